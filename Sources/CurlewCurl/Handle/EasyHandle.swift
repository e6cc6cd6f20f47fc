// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import FoundationEssentials
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// One libcurl handle, used for one transfer after the other.
///
/// What is the same for all transfers of an engine is set once; `prepare` sets everything else, always, so nothing of
/// an earlier transfer is left. That is cheaper than resetting the handle. Used on the event loop's thread only.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    let configuration: TransportConfiguration
    let proxies: ProxyRules
    /// Where it finds TLS sessions. The handle is cleaned up first.
    var sessions: SessionStore?
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var overrides: UnsafeMutablePointer<curl_slist>?
    /// Addresses that were found for the transfer.
    private var addresses: UnsafeMutablePointer<curl_slist>?
    /// What the handle has been given, because setting a text again costs copies: most calls of a client differ only in
    /// their path.
    var current = Current()
    var peer = Peer()
    /// The certificates of the connection that the transfer has made last, while it lasts.
    var serverCheck: ServerCheck?
    private var problem: CURLcode = CURLE_OK
    /// The option that libcurl would not take.
    private var refusedOption: CURLoption?
    private var fixedProblem: CURLcode = CURLE_OK

    /// Nil when libcurl has no memory left.
    init?(configuration: TransportConfiguration, proxies: ProxyRules) {
        guard let pointer = curl_easy_init() else {
            errorText.deallocate()
            return nil
        }
        self.pointer = pointer
        self.configuration = configuration
        self.proxies = proxies
        errorText.pointee = 0
        setFixedOptions()
        setConnections()
        setNames()
        setTrust()
        setProxyTrust()
        fixedProblem = problem
    }

    deinit {
        curl_easy_cleanup(pointer)
        curl_slist_free_all(headerList)
        curl_slist_free_all(overrides)
        curl_slist_free_all(addresses)
        errorText.deallocate()
    }

    /// Sets up everything for `transfer`. Throws what libcurl refuses.
    func prepare(_ transfer: Transfer) throws(NetworkError) {
        problem = fixedProblem
        errorText.pointee = 0
        serverCheck = nil
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        setPointer(CURLOPT_PRIVATE, context)
        setPointer(CURLOPT_WRITEDATA, context)
        setPointer(CURLOPT_HEADERDATA, context)
        setPointer(CURLOPT_READDATA, context)
        setPointer(CURLOPT_SEEKDATA, context)
        setPointer(CURLOPT_PREREQDATA, context)
        setPointer(CURLOPT_RESOLVER_START_DATA, context)
        setOpening(of: transfer, context)
        if forgetsAddresses { forgetAddresses(for: transfer) }
        setText(CURLOPT_URL, transfer.url)
        setTarget(of: transfer)
        setMethod(of: transfer)
        setHeaders(of: transfer)
        setServer(of: transfer)
        setVersion(of: transfer)
        setBuffers(of: transfer)
        setTrailers(of: transfer)
        setConnectTimeout(transfer.context.timeouts.connect)
        if problem != CURLE_OK {
            current = Current()
            throw CurlFailure.error(problem, handle: self, transfer: transfer)
        }
    }

    /// Zero would be libcurl's own default of 300 s, and its largest value is that of a 32-bit integer.
    private func setConnectTimeout(_ time: Duration?) {
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32(clamping: max(1, time?.roundedUpMilliseconds ?? .max))))
    }

    /// Where libcurl connects to for `transfer`; nil if that is not known.
    func place(for transfer: Transfer) -> (host: String, port: Int)? {
        let origin = transfer.request.origin
        if let proxy = current.proxy { return proxy.origin.map { ($0.host, $0.port) } }
        guard let override = configuration.dns.override(for: origin) else { return (origin.host, origin.port) }
        return (override.targetHost ?? origin.host, override.targetPort ?? origin.port)
    }

    /// What was found for the name that the transfer needs. libcurl keeps it for as long as what it looks up itself.
    func setAddresses(_ list: String, for transfer: Transfer) {
        setAddresses(of: transfer) { forgetsAddresses ? "\($0):\(list)" : "+\($0):\(list)" }
        let took = Duration.nanoseconds(transfer.lookup.time(at: 0))
        setConnectTimeout(transfer.context.timeouts.connect.map { max(.zero, $0 - took) })
    }

    /// What libcurl may keep for less than a second it would forget before it connects. So it keeps that until the next
    /// transfer.
    private var forgetsAddresses: Bool { configuration.dns.cacheLifetime <= .zero }

    private func forgetAddresses(for transfer: Transfer) {
        setAddresses(of: transfer) { "-\($0)" }
    }

    private func setAddresses(of transfer: Transfer, _ line: (String) -> String) {
        guard let place = place(for: transfer) else { return }
        let previous = addresses
        defer { curl_slist_free_all(previous) }
        addresses = nil
        // Versions differ in whether a dot at the end is a part of the name.
        for name in Set([place.host, place.host.ends(with: ".") ? String(place.host.dropLast()) : place.host]) {
            addresses = curl_slist_append(addresses, line("\(name):\(place.port)")) ?? addresses
        }
        setPointer(CURLOPT_RESOLVE, UnsafeMutableRawPointer(addresses))
    }

    /// What libcurl wrote about the failure, else its standard text for `code`.
    ///
    /// About an option that libcurl refuses, newer versions write a text of their own, which has its number only.
    func message(for code: CURLcode) -> String {
        let standard = curl_easy_strerror(code).map { String(cString: $0) } ?? "unknown error"
        if refuses(code), let name = refusedOption.flatMap({ curl_easy_option_by_id($0)?.pointee.name }) {
            return "\(standard) (CURLOPT_\(String(cString: name)))"
        }
        return errorText.pointee != 0 ? String(cString: errorText) : standard
    }

    /// Whether `code` is about an option, and not about what libcurl has done with it since.
    func refuses(_ code: CURLcode) -> Bool {
        code != CURLE_OK && code == problem
    }

    /// libcurl allocates both for each transfer: beyond 128 KiB every request would map and unmap memory. What is large
    /// or streams has larger ones, since one turn for a larger piece costs less than one for each small one.
    private func setBuffers(of transfer: Transfer) {
        // A handle whose last transfer broke off may still have its buffer, and keeps its size then.
        let room = transfer.streams ? 120 << 10 : 32 << 10
        if current.room != room, curlew_set_long(pointer, CURLOPT_BUFFERSIZE, room) == CURLE_OK {
            current.room = room
        }
        guard let upload = transfer.upload else { return }
        let sendsMuch = upload.length ?? .max > 256 << 10
        if current.sendsMuch != sendsMuch {
            let code = curlew_set_long(pointer, CURLOPT_UPLOAD_BUFFERSIZE, sendsMuch ? 120 << 10 : 64 << 10)
            if code == CURLE_OK { current.sendsMuch = sendsMuch }
        }
    }

    private func setMethod(of transfer: Transfer) {
        let request = transfer.request
        // Order matters: this clears what an upload or HEAD had set before.
        set(CURLOPT_HTTPGET, 1)
        if let upload = transfer.upload {
            set(CURLOPT_UPLOAD, 1)
            check(curlew_set_offset(pointer, CURLOPT_INFILESIZE_LARGE, upload.length ?? -1))
        } else if request.method == .head {
            set(CURLOPT_NOBODY, 1)
        }
        let isImplied = transfer.upload == nil && (request.method == .get || request.method == .head)
        setText(CURLOPT_CUSTOMREQUEST, isImplied ? nil : request.method.rawValue)
    }

    private func setHeaders(of transfer: Transfer) {
        let headers = transfer.request.headers
        let implied = Implied(
            hasUpload: transfer.upload != nil, definesContent: transfer.request.method.definesContent,
            decodesContent: transfer.decodesContent, trailers: transfer.announcedTrailers)
        guard !current.has(headers, implied) else { return }
        current.headers = headers
        current.implied = implied
        let previous = headerList
        defer { curl_slist_free_all(previous) }
        headerList = nil
        // libcurl adds an expectation of its own to large bodies, and repeats a request whose expectation was refused. It
        // only looks at the first field of this name, and leaves an empty one out: what follows is sent, but not obeyed.
        if implied.hasUpload { append("Expect:") }
        if let names = implied.trailers { append("Trailer: \(names)") }
        var (namesAccept, namesCodings) = (false, ContentCoding.offer.isEmpty)
        for field in headers {
            if field.name == .contentLength || field.name == .transferEncoding { continue }
            if field.name == .accept { namesAccept = true }
            // A part of a coded form cannot be decoded.
            if field.name == .acceptEncoding || field.name == .range { namesCodings = true }
            // libcurl drops `Name:` and sends `Name;` as a field without a value.
            append(field.value.isEmpty ? "\(field.name.text);" : "\(field.name.text): \(field.value)")
        }
        // Fields that libcurl would add by itself.
        if !namesAccept { append("Accept:") }
        if implied.decodesContent, !namesCodings { append("Accept-Encoding: \(ContentCoding.offer)") }
        if !implied.hasUpload, implied.definesContent { append("Content-Length: 0") }
        setPointer(CURLOPT_HTTPHEADER, UnsafeMutableRawPointer(headerList))
    }

    private func append(_ line: String) {
        guard let list = curl_slist_append(headerList, line) else {
            problem = CURLE_OUT_OF_MEMORY
            return
        }
        headerList = list
    }

    /// Another place to connect to, as libcurl writes it.
    func appendOverride(_ line: String) {
        guard let list = curl_slist_append(overrides, line) else {
            problem = CURLE_OUT_OF_MEMORY
            return
        }
        overrides = list
        setPointer(CURLOPT_CONNECT_TO, UnsafeMutableRawPointer(list))
    }

    private func setFixedOptions() {
        set(CURLOPT_NOSIGNAL, 1)
        setPointer(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorText))
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_PROTOCOLS, Int(CURLPROTO_HTTP | CURLPROTO_HTTPS))
        set(CURLOPT_FOLLOWLOCATION, 0)
        // Empty, not nil: libcurl would ask the environment.
        setText(CURLOPT_PROXY, "")
        setText(CURLOPT_NOPROXY, "")
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Removing a transfer during a name lookup must not wait for the lookup.
        set(CURLOPT_QUICK_EXIT, 1)
        if alwaysOpens {
            set(CURLOPT_FRESH_CONNECT, 1)
            set(CURLOPT_FORBID_REUSE, 1)
        }
        check(curlew_set_data_callback(pointer, CURLOPT_HEADERFUNCTION, receiveHeader))
        check(curlew_set_data_callback(pointer, CURLOPT_WRITEFUNCTION, receiveBody))
        check(curlew_set_data_callback(pointer, CURLOPT_READFUNCTION, sendBody))
        check(curlew_set_seek_callback(pointer, rewindBody))
        check(curlew_set_before_request_callback(pointer, beginRequest))
    }

    func set(_ option: CURLoption, _ value: Int) {
        check(curlew_set_long(pointer, option, value), option)
    }

    func setText(_ option: CURLoption, _ value: String?) {
        // Passing an optional string to C directly would copy it.
        let code = value.map { $0.withCString { curlew_set_string(pointer, option, $0) } }
        check(code ?? curlew_set_string(pointer, option, nil), option)
    }

    /// libcurl copies the bytes; nil takes back what was set.
    func setData(_ option: CURLoption, _ value: Data?) {
        guard let value else { return setPointer(option, nil) }
        check(value.withUnsafeBytes { curlew_set_blob(pointer, option, $0.baseAddress, $0.count) }, option)
    }

    func setPointer(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) {
        check(curlew_set_pointer(pointer, option, value), option)
    }

    func check(_ code: CURLcode, _ option: CURLoption? = nil) {
        guard code != CURLE_OK, problem == CURLE_OK else { return }
        problem = code
        refusedOption = option
    }
}
#endif
