/* ast.h - Lua 5.4 source as a tree: immutable, names resolved, every node with its place. */
#ifndef TD_FRONTEND_LUA_AST_H
#define TD_FRONTEND_LUA_AST_H

#include "base/diag.h"
#include "base/sym.h"

typedef struct TdAstExpr TdAstExpr;
typedef struct TdAstStmt TdAstStmt;
typedef struct TdAstFn TdAstFn;
typedef struct TdAstLocal TdAstLocal;

/* X(kind, words): the expressions, and how a message names one. */
#define TD_AST_EXPRS(X)                                                                            \
  X(NIL, "nil")                                                                                    \
  X(BOOL, "a boolean")                                                                             \
  X(INT, "an integer")                                                                             \
  X(FLOAT, "a number")                                                                             \
  X(STRING, "a string")                                                                            \
  X(VARARG, "'...'")                                                                               \
  X(FUNCTION, "a function")                                                                        \
  X(TABLE, "a table constructor")                                                                  \
  X(NAME, "a name")                                                                                \
  X(FIELD, "a field")                                                                              \
  X(INDEX, "an index")                                                                             \
  X(CALL, "a call")                                                                                \
  X(METHOD, "a method call")                                                                       \
  X(UNARY, "an operator")                                                                          \
  X(BINARY, "an operator")                                                                         \
  X(PAREN, "an expression in parentheses")

/* X(kind, words): the statements. */
#define TD_AST_STMTS(X)                                                                            \
  X(LOCAL, "local")                                                                                \
  X(LOCAL_FUNCTION, "local function")                                                              \
  X(DEFINE, "function")                                                                            \
  X(ASSIGN, "an assignment")                                                                       \
  X(EVAL, "a call")                                                                                \
  X(DO, "do")                                                                                      \
  X(WHILE, "while")                                                                                \
  X(REPEAT, "repeat")                                                                              \
  X(IF, "if")                                                                                      \
  X(FOR, "for")                                                                                    \
  X(FOR_IN, "for")                                                                                 \
  X(RETURN, "return")                                                                              \
  X(BREAK, "break")                                                                                \
  X(GOTO, "goto")                                                                                  \
  X(LABEL, "a label")                                                                              \
  X(EMPTY, "';'")

/* X(op, text, left, right): the binary operators; the higher number binds an operand. */
#define TD_AST_BINARIES(X)                                                                         \
  X(OR, "or", 1, 1)                                                                                \
  X(AND, "and", 2, 2)                                                                              \
  X(LT, "<", 3, 3)                                                                                 \
  X(GT, ">", 3, 3)                                                                                 \
  X(LE, "<=", 3, 3)                                                                                \
  X(GE, ">=", 3, 3)                                                                                \
  X(NE, "~=", 3, 3)                                                                                \
  X(EQ, "==", 3, 3)                                                                                \
  X(BOR, "|", 4, 4)                                                                                \
  X(BXOR, "~", 5, 5)                                                                               \
  X(BAND, "&", 6, 6)                                                                               \
  X(SHL, "<<", 7, 7)                                                                               \
  X(SHR, ">>", 7, 7)                                                                               \
  X(CONCAT, "..", 9, 8)                                                                            \
  X(ADD, "+", 10, 10)                                                                              \
  X(SUB, "-", 10, 10)                                                                              \
  X(MUL, "*", 11, 11)                                                                              \
  X(DIV, "/", 11, 11)                                                                              \
  X(IDIV, "//", 11, 11)                                                                            \
  X(MOD, "%", 11, 11)                                                                              \
  X(POW, "^", 14, 13)

/* How tight the unary operators bind, on the scale above. */
#define TD_AST_UNARY_PRIORITY 12
#define TD_AST_UNARIES(X)                                                                          \
  X(NOT, "not")                                                                                    \
  X(NEG, "-")                                                                                      \
  X(LEN, "#")                                                                                      \
  X(BNOT, "~")

#define TD_AST_KIND(kind, ...) TD_AST_##kind,
typedef enum { TD_AST_EXPRS(TD_AST_KIND) } TdAstExprKind;
typedef enum { TD_AST_STMTS(TD_AST_KIND) } TdAstStmtKind;
typedef enum { TD_AST_BINARIES(TD_AST_KIND) } TdAstBinary;
typedef enum { TD_AST_UNARIES(TD_AST_KIND) } TdAstUnary;
#undef TD_AST_KIND

typedef enum { TD_AST_PLAIN, TD_AST_CONST, TD_AST_CLOSE } TdAstAttrib;

/* A declared variable; its identity is the pointer. */
struct TdAstLocal {
  const char *name; /* interned */
  TdLoc loc;        /* the name; for an implicit self the method's name */
  TdAstAttrib attrib;
  uint32_t level; /* of the function that declares it; 0 for ENV */
  bool assigned;  /* after its declaration, at first here: */
  TdLoc assigned_at;
  bool captured;             /* used by an inner function */
  const TdAstExpr *constant; /* of a <const> that Lua folds away: no upvalue; else NULL */
};

typedef struct TdAstLocals {
  const TdAstLocal *const *at;
  size_t n;
} TdAstLocals;

typedef struct TdAstExprs {
  const TdAstExpr *const *at;
  size_t n;
} TdAstExprs;

/* Statements, and the lines of the tokens that open and close them. */
typedef struct TdAstBlock {
  const TdAstStmt *const *at;
  size_t n;
  uint32_t first, last;
} TdAstBlock;

/* A function as Lua's debug information knows it. The main chunk is defined at lines 0, 0. */
struct TdAstFn {
  TdLoc loc; /* the word `function` */
  uint32_t line_defined, last_line_defined;
  uint32_t level; /* 1: the main chunk */
  const TdAstFn *outer;
  TdAstLocals params; /* self included */
  bool is_vararg;
  TdAstLocals upvals; /* in Lua's order */
  TdAstBlock body;
};

/* An item of a table constructor: `value`, `name = value` or `[key] = value`. */
typedef struct TdAstItem {
  TdLoc loc;            /* the value's, the name, or `[` */
  const char *name;     /* or NULL */
  const TdAstExpr *key; /* or NULL */
  const TdAstExpr *value;
} TdAstItem;

/* `if cond then body` or `elseif cond then body`; cond is NULL for `else body`. */
typedef struct TdAstArm {
  const TdAstExpr *cond;
  TdAstBlock body;
} TdAstArm;

typedef enum { TD_AST_IS_LOCAL, TD_AST_IS_UPVAL, TD_AST_IS_GLOBAL } TdAstBinding;

typedef struct TdAstName {
  const char *id;
  TdAstBinding binding;
  int upval;             /* place of var in the upvals of the function around, -1: none needed */
  const TdAstLocal *var; /* for a global: the _ENV that holds it */
} TdAstName;

/* loc is the operator, `[`, the key of a field, the name of a method, the callee of a call, else
 * the first token. */
struct TdAstExpr {
  TdAstExprKind kind;
  TdLoc loc;
  uint32_t first, last;      /* lines */
  const TdAstExpr *constant; /* the literal that Lua folds it to, itself for a literal, else NULL */
  union {
    bool boolean;
    int64_t integer;
    struct {
      double number;
      bool is_long; /* the text is an integer, of more than 64 bits */
    };
    struct {
      const char *at; /* NUL-terminated, may hold NULs */
      size_t n;
    } string;
    const TdAstFn *fn;
    struct {
      const TdAstItem *at;
      size_t n;
    } table;
    TdAstName name;
    struct {
      const TdAstExpr *of;
      const char *key;
    } field;
    struct {
      const TdAstExpr *of, *key;
    } index;
    struct {
      const TdAstExpr *callee; /* METHOD: the object */
      const char *method;      /* METHOD only */
      TdAstExprs args;
    } call;
    struct {
      TdAstUnary op;
      const TdAstExpr *of;
    } unary;
    struct {
      TdAstBinary op;
      const TdAstExpr *left, *right;
    } binary;
    const TdAstExpr *paren;
  };
};

/* loc is the keyword, an assignment's `=`, the place of a call, the name of a goto or label. */
struct TdAstStmt {
  TdAstStmtKind kind;
  TdLoc loc;
  TdLoc begin;          /* its first token */
  uint32_t first, last; /* lines */
  union {
    struct {
      TdAstLocals vars;
      TdAstExprs values;
    } local;
    struct {
      const TdAstLocal *var;   /* LOCAL_FUNCTION */
      const TdAstExpr *target; /* DEFINE: a name, or a field (of a method too) */
      const TdAstFn *fn;
    } function;
    struct {
      TdAstExprs targets, values;
    } assign;
    struct {
      const TdAstExpr *call; /* EVAL; at the end of an input of the prompt any expression */
      TdAstExprs rest;       /* there: the expressions behind it, after commas */
    };
    TdAstBlock block; /* DO */
    struct {
      const TdAstExpr *cond;
      TdAstBlock body;
    } loop; /* WHILE, REPEAT (whose cond sees the locals of the body) */
    struct {
      const TdAstArm *at;
      size_t n;
    } arms; /* IF */
    struct {
      TdAstLocals vars; /* FOR: one */
      TdAstExprs over;  /* FOR: start, limit, maybe step */
      TdAstBlock body;
    } each;            /* FOR, FOR_IN */
    TdAstExprs values; /* RETURN */
    struct {
      const char *name;
      const TdAstStmt *label;
    } jump;            /* GOTO */
    const char *label; /* LABEL */
  };
};

/* A comment `--@ text`: where it stands and its text without blanks around. */
typedef struct TdAstMark {
  TdLoc loc;
  const char *text; /* NUL-terminated */
  size_t n;
} TdAstMark;

typedef struct TdAstFns {
  const TdAstFn *const *at;
  size_t n;
} TdAstFns;

/* A parsed chunk. */
typedef struct TdAst {
  const TdAstFn *main;
  TdAstFns functions; /* all, main first, in source order */
  struct {
    const TdAstMark *at;
    size_t n;
  } marks; /* in source order */
} TdAst;

/* The functions that Lua says are defined from line `first` to `last`, in source order; the list
 * is owned by a. */
TdAstFns td_ast_functions(const TdAst *ast, TdArena *a, uint32_t first, uint32_t last);

/* How a message names an expression or statement: "a call", "while"; and an operator as written. */
const char *td_ast_expr_words(TdAstExprKind kind);
const char *td_ast_stmt_words(TdAstStmtKind kind);
const char *td_ast_binary_text(TdAstBinary op);
const char *td_ast_unary_text(TdAstUnary op);

#endif
