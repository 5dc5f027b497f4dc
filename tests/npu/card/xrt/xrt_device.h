/* xrt_device.h - of the stub card. */
#include "xrt_kernel.h"
