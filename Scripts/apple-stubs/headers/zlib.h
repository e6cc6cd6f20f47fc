// SPDX-License-Identifier: MIT
// zlib: what CZlib uses, as Apple's systems have it.

#ifndef CURLEW_APPLE_STUBS_ZLIB_H
#define CURLEW_APPLE_STUBS_ZLIB_H

typedef unsigned char Bytef;
typedef unsigned int uInt;
typedef unsigned long uLong;

typedef struct z_stream_s {
    Bytef *next_in;
    uInt avail_in;
    uLong total_in;
    Bytef *next_out;
    uInt avail_out;
    uLong total_out;
    char *msg;
    struct internal_state *state;
    void *(*zalloc)(void *, uInt, uInt);
    void (*zfree)(void *, void *);
    void *opaque;
    int data_type;
    uLong adler;
    uLong reserved;
} z_stream;

typedef z_stream *z_streamp;

#define Z_NO_FLUSH 0
#define Z_SYNC_FLUSH 2
#define Z_OK 0
#define Z_STREAM_END 1
#define Z_BUF_ERROR (-5)
#define Z_DEFLATED 8
#define Z_HUFFMAN_ONLY 2
#define Z_DEFAULT_STRATEGY 0
#define ZLIB_VERSION "1.2.12"

int deflateInit2_(
    z_streamp stream, int level, int method, int bits, int memory, int strategy, const char *version, int size);
int deflate(z_streamp stream, int flush);
int deflateReset(z_streamp stream);
int deflateEnd(z_streamp stream);
int inflateInit2_(z_streamp stream, int bits, const char *version, int size);
int inflate(z_streamp stream, int flush);
int inflateReset(z_streamp stream);
int inflateEnd(z_streamp stream);

#define deflateInit2(stream, level, method, bits, memory, strategy) \
    deflateInit2_((stream), (level), (method), (bits), (memory), (strategy), ZLIB_VERSION, (int)sizeof(z_stream))
#define inflateInit2(stream, bits) inflateInit2_((stream), (bits), ZLIB_VERSION, (int)sizeof(z_stream))

#endif
