// SPDX-License-Identifier: MIT

#if os(Linux)
/// Quirk of libcurl before 8.0 (seen with 7.88.1): a handle keeps a pointer to the last field of its previous response,
/// whose memory is free. A response whose first field line begins with a blank continues that field: the server damages
/// the memory of the process. So with these versions each transfer has a handle of its own.
extension CurlLibrary {
    var keepsFreedFields: Bool { version < 0x08_00_00 }
}
#endif
