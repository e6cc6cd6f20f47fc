// SPDX-License-Identifier: MIT

import Curlew

/// The smallest program that uses the package. A test looks at what it links, and runs it.
@main
struct LinkageProbe {
    static func main() async {
        let client = APIClient(baseURL: "http://127.0.0.1:1")
        do throws(NetworkError) {
            _ = try await client.send(Request<String>.get("/"))
        } catch {
            print(error.message)
        }
    }
}
