// SPDX-License-Identifier: MIT

#if os(Linux)
import Testing

@testable import CurlewCurl

/// The environment decides nothing unasked: with `SSLKEYLOGFILE`, libcurl writes the secrets of each connection to a
/// file.
@Suite(.timeLimit(.minutes(1)))
struct KeyLogTests {
    @Test("No secret of a connection is written unless the configuration asks for it", arguments: [false, true])
    func keyLog(isAskedFor: Bool) async throws {
        let nginx = try await Nginx.shared()
        let folder = try TemporaryFolder()
        let path = folder.path + "/keys"
        await #expect(processExitsWith: .success) {
            [
                path = path as String, url = nginx.secure() + "/empty" as String,
                authority = nginx.certificates.authority as String, isAskedFor = isAskedFor as Bool
            ] in
            setenv("SSLKEYLOGFILE", path, 1)
            var tls = TransportConfiguration.TLS(trustedRoots: .file(authority))
            tls.obeysKeyLogFile = isAskedFor
            let transport = CurlTransport(configuration: TransportConfiguration(tls: tls))
            for _ in 0..<2 {
                if !isAskedFor, CurlLibrary.current.keyLogProblem != nil {
                    // Where it cannot be kept from writing, there is no connection.
                    #expect(await transport.failure(.get, url)?.reason == .configuration)
                    continue
                }
                let response = try await transport.exchange(.get, url)
                #expect(response.status == .noContent)
            }
            await transport.shutdown()
        }
        let written = (try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data()
        #expect(written.isEmpty != isAskedFor)
    }
}
#endif
