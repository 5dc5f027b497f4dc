/* tide_host.h - refuses synthesis: every simulation header includes this one first. */
#ifndef TIDE_HOST_H
#define TIDE_HOST_H

#ifdef __SYNTHESIS__
#  error "these headers only simulate: synthesis takes the vendor's own"
#endif

#endif
