/* ip.h - external IP: C++ functions from source, behind a C wrapper for runs and an adapter for
 * HLS C++. */
#ifndef TD_IP_H
#define TD_IP_H

#include "backends/host/cache.h"
#include "backends/ip/ipsig.h"

/* Where IP is built: the cache, and Tide's HLS headers. */
typedef struct TdIpShop {
  TdCache cache;
  const char *headers;
} TdIpShop;
/* Finds both; false with d filled. */
bool td_ip_open(TdIpShop *s, TdArena *a, TdDiag *d);
/* Fills in->path with the files of ip, and in->text, owned by a, with what libclang says of its
 * functions `symbol`, unless that was done before. False with d filled. */
bool td_ip_declare(TdIpShop *s, const TdIp *ip, const char *symbol, TdIpsigText *in);
/* Compiles the IP of the parameters' types with Tide's HLS headers, unless that was done before.
 * Fills out->library and out->symbol, which C programs call; strings are owned by the shop's arena.
 * False with the diagnostic filled: what the compiler said of the source, at its line. */
bool td_ip_build(TdIpShop *s, const TdIpsigText *in, const TdIp *ip, const TdParam *param, size_t n,
                 TdForeign *out);
/* The source and what it includes by names in quotes, from its own folder. False with d filled. */
bool td_ip_files(TdArena *a, const char *path, TdIp *out, TdDiag *d);

/* How a side that is not C++ of the user holds a parameter. */
typedef struct TdIpSide {
  const char *name, *cell; /* the type of its elements there */
  bool bits;               /* cells hold the words of fixed-point numbers */
} TdIpSide;
/* Writes statements that call the IP with its own types, given arrays and scalars as side[i] says:
 * those of other types are copied there and back. */
void td_ip_call(TdText *out, const TdIp *ip, const TdParam *param, size_t n, const TdIpSide *side);

#endif
