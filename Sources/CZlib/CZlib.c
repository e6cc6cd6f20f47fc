// SPDX-License-Identifier: MIT

#include "CZlib.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

struct curlew_zlib {
    z_stream stream;
    bool deflates;
    // What zlib said about its place in the data after the last call that consumed or produced something. A call
    // without either forgets that a block has ended.
    int place;
};

curlew_zlib *curlew_zlib_create(bool deflates, int bits) {
    curlew_zlib *zlib = calloc(1, sizeof(curlew_zlib));
    if (zlib == NULL) return NULL;
    zlib->deflates = deflates;
    // A negative window means raw deflate. zlib has no window of 8 bits to compress with; without matches, none is
    // needed.
    int strategy = bits < 9 ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY;
    int result = deflates ? deflateInit2(&zlib->stream, 6, Z_DEFLATED, bits < 9 ? -9 : -bits, 8, strategy)
                          : inflateInit2(&zlib->stream, -bits);
    if (result != Z_OK) {
        free(zlib);
        return NULL;
    }
    return zlib;
}

int curlew_zlib_run(
    curlew_zlib *zlib, const uint8_t *input, size_t length, size_t *taken, uint8_t *output, size_t room,
    size_t *written) {
    static uint8_t nothing;
    z_stream *stream = &zlib->stream;
    uInt most_input = length > UINT_MAX ? UINT_MAX : (uInt)length;
    uInt most_output = room > UINT_MAX ? UINT_MAX : (uInt)room;
    stream->next_in = (Bytef *)(input == NULL ? &nothing : input);
    stream->avail_in = most_input;
    stream->next_out = output;
    stream->avail_out = most_output;
    // Only the last piece of the input ends it.
    int result = zlib->deflates ? deflate(stream, most_input < length ? Z_NO_FLUSH : Z_SYNC_FLUSH)
                                : inflate(stream, Z_SYNC_FLUSH);
    *taken = most_input - stream->avail_in;
    *written = most_output - stream->avail_out;
    if (*taken > 0 || *written > 0) zlib->place = stream->data_type;
    stream->next_in = NULL;
    stream->next_out = NULL;
    if (result == Z_STREAM_END) return 1;
    // Z_BUF_ERROR says that there was nothing to do.
    if (result != Z_OK && result != Z_BUF_ERROR) return -1;
    return zlib->deflates && *taken == length && stream->avail_out > 0;
}

bool curlew_zlib_is_between_blocks(const curlew_zlib *zlib) {
    // 128 says that the end of a block was the last thing decoded, and the lowest bits count the unused bits.
    return (zlib->place & 128) != 0 && (zlib->place & 7) == 0;
}

void curlew_zlib_reset(curlew_zlib *zlib) {
    if (zlib->deflates) deflateReset(&zlib->stream);
    else inflateReset(&zlib->stream);
}

void curlew_zlib_free(curlew_zlib *zlib) {
    if (zlib->deflates) deflateEnd(&zlib->stream);
    else inflateEnd(&zlib->stream);
    free(zlib);
}
