// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import Foundation
import Testing

@testable import CurlewCurl

/// The libcurl that is loaded, and those that the engine refuses.
@Suite(.timeLimit(.minutes(1)))
struct LibraryTests {
    @Test("the tests run on the libcurl that Scripts/libcurls has chosen")
    func chosen() throws {
        guard let expected = ProcessInfo.processInfo.environment["CURLEW_EXPECTED_LIBCURL"] else { return }
        // Builds between two releases carry a word behind the number.
        #expect(CurlLibrary.current.name.split(separator: "-").first == "libcurl \(expected)")
    }
}
