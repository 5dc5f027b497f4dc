/* sign.c - HMAC-SHA256 by libcrypto, and the signatures heard of late. */
#include "repl/jupyter/sign.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <string.h>

/* Places of signatures by their first bytes: a later one takes the place of an earlier. */
enum { DIGEST = 32, PLACES = 1 << 16 };

struct TdSigner {
  EVP_MAC_CTX *mac; /* NULL: no key */
  unsigned char (*heard)[DIGEST];
};

/* Frees a context of libcrypto. */
static void free_mac(void *mac) {
  EVP_MAC_CTX_free(mac);
}

/* HMAC-SHA256 with that key, owned by a; or NULL. */
static EVP_MAC_CTX *new_mac(TdArena *a, TdBytes key) {
  char sha256[] = "SHA256";
  EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
  EVP_MAC_CTX *mac = EVP_MAC_CTX_new(hmac);
  EVP_MAC_free(hmac);
  OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, sha256, 0),
                         OSSL_PARAM_construct_end()};
  if (!mac) return NULL;
  td_arena_defer(a, free_mac, mac);
  return EVP_MAC_init(mac, (const unsigned char *)key.at, key.n, params) ? mac : NULL;
}

TdSigner *td_signer_new(TdArena *a, TdBytes key) {
  TdSigner *s = TD_NEW(a, TdSigner);
  if (!key.n) return s;
  s->mac = new_mac(a, key);
  s->heard = td_arena_array(a, PLACES, sizeof *s->heard);
  return s->mac ? s : NULL;
}

/* The signature of the parts as bytes. */
static void digest(TdSigner *s, const TdBytes *part, unsigned char out[DIGEST]) {
  EVP_MAC_init(s->mac, NULL, 0, NULL);
  for (int i = 0; i < TD_SIGN_PARTS; i++)
    EVP_MAC_update(s->mac, (const unsigned char *)part[i].at, part[i].n);
  EVP_MAC_final(s->mac, out, NULL, DIGEST);
}

/* Puts bytes as digits, ended by NUL. */
static void to_digits(const unsigned char in[DIGEST], char digits[TD_SIGN_DIGITS + 1]) {
  for (int i = 0; i < DIGEST; i++) {
    *digits++ = "0123456789abcdef"[in[i] >> 4];
    *digits++ = "0123456789abcdef"[in[i] & 15];
  }
  *digits = 0;
}

void td_signer_sign(TdSigner *s, const TdBytes *part, char digits[TD_SIGN_DIGITS + 1]) {
  unsigned char right[DIGEST];
  *digits = 0;
  if (!s->mac) return;
  digest(s, part, right);
  to_digits(right, digits);
}

const char *td_signer_refuse(TdSigner *s, const TdBytes *part, TdBytes signature) {
  unsigned char right[DIGEST];
  char digits[TD_SIGN_DIGITS + 1];
  if (!s->mac) return NULL;
  digest(s, part, right);
  to_digits(right, digits);
  if (signature.n != TD_SIGN_DIGITS || CRYPTO_memcmp(digits, signature.at, TD_SIGN_DIGITS) != 0)
    return "its signature is wrong";
  unsigned char *place = s->heard[right[0] << 8 | right[1]];
  if (memcmp(place, right, DIGEST) == 0) return "it was heard before";
  memcpy(place, right, DIGEST);
  return NULL;
}
