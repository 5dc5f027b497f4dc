/* xrt_bo.h - of the stub card. */
#include "xrt_kernel.h"
