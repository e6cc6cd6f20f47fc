// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore

/// The TLS sessions that the handles of one event loop share: a new connection resumes one whichever handle opened the earlier
/// connection. libcurl before 8.12 keeps sessions for each handle by itself; later versions keep them where the
/// connections are.
///
/// No locks, because all of these handles are used by one thread. They hold the store, which must not go before them.
final class SessionStore {
    let pointer: OpaquePointer

    /// Nil where none is needed, and without memory.
    init?() {
        guard CurlLibrary.current.keepsSessionsByHandle, let pointer = curlew_session_store() else { return nil }
        self.pointer = OpaquePointer(pointer)
    }

    deinit {
        curl_share_cleanup(UnsafeMutableRawPointer(pointer))
    }
}

extension EasyHandle {
    /// Has TLS sessions kept in `store`. False if libcurl refuses.
    func share(_ store: SessionStore?) -> Bool {
        guard let store else { return true }
        sessions = store
        return curlew_set_pointer(pointer, CURLOPT_SHARE, UnsafeMutableRawPointer(store.pointer)) == CURLE_OK
    }
}
#endif
