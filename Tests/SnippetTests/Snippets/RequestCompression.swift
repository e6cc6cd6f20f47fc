// SPDX-License-Identifier: MIT

import Curlew

enum RequestCompressionPage {
    static func client() -> APIClient {
        let client = APIClient(
            baseURL: "https://api.example.com", pipeline: .standard.adding(.compressingRequests()))

        return client
    }

    static func pipeline() -> Pipeline {
        let pipeline = Pipeline.standard.adding(.compressingRequests(above: 4096, streaming: true))

        return pipeline
    }
}
