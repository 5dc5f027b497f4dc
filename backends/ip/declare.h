/* declare.h - what libclang says of the functions of a C or C++ source, as text.
 *
 * A line is a letter and fields, each after a tab; a place is four of them: the number of the file
 * among those of the source (their count: another file), line, column, length.
 *   E severity place text               an error; N place text: a note of it
 *   F usr place template defined result symbol      a function; result "void", or what it returns
 *   P place way const extents element name          its next parameter; the place is all of it
 * `way` is a TdIpPass, or one of TdDeclareWay; extents "4,8", of pointers and open arrays "-1"
 * first. Types are canonical, `element` without const and volatile. */
#ifndef TD_IP_DECLARE_H
#define TD_IP_DECLARE_H

#include "ir/ir.h"

/* Ways of passing that a call from outside cannot mean. */
typedef enum {
  TD_DECLARE_DEEP = 100, /* pointers to pointers */
  TD_DECLARE_POINTERS,   /* an array of pointers */
  TD_DECLARE_OTHER       /* an rvalue reference, an array whose extent is no constant */
} TdDeclareWay;

typedef struct TdDeclare {
  const char *symbol;                /* functions with the last name of it are told */
  const char *const *path, *headers; /* of its files, the source first; where Tide's headers are */
  size_t nfile;
  bool cxx; /* else C */
  const char *to;
} TdDeclare;

/* How td_declare_run ends its process where it writes no text. */
enum { TD_DECLARE_ABSENT = 3, TD_DECLARE_FAILED = 4, TD_DECLARE_DISK = 5 };

/* Writes the text into the file job->to. libclang may crash, or not end: to be run in a copy of
 * this process, of which it uses no memory, and which it ends where it fails. */
void td_declare_run(void *job);

#endif
