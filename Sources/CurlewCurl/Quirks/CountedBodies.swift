// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl

/// libcurl from 8.7.0 on counts the bytes of a body as bytes of the request (seen with 8.12.1, 8.16.0 and 8.23.0); up to
/// 8.6.0 a request ends with its head (seen with 7.88.1 and 8.4.0).
extension EasyHandle {
    /// The bytes of requests and their bodies that have left.
    var bytesSent: Int64 {
        let request = Int64(curlew_info_long(pointer, CURLINFO_REQUEST_SIZE))
        if CurlLibrary.current.version >= 0x08_07_00 { return request }
        return request + curlew_info_offset(pointer, CURLINFO_SIZE_UPLOAD_T)
    }
}
#endif
