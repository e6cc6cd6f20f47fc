// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

/// The libcurl that is loaded, and those that the transport refuses.
@Suite(.timeLimit(.minutes(1)))
struct LibraryTests {
    @Test("The tests run on the libcurl that Scripts/libcurls has chosen")
    func chosen() throws {
        guard let expected = ProcessInfo.processInfo.environment["CURLEW_EXPECTED_LIBCURL"] else { return }
        // Builds between two releases carry a word behind the number.
        #expect(CurlLibrary.current.name.split(separator: "-").first == "libcurl \(expected)")
    }

    @Test("The oldest accepted version is the oldest that is tested")
    func minimum() throws {
        #expect(CurlLibrary.problem(ofVersion: 0x07_58_00, named: "7.88.0") == nil)
        let problem = try #require(CurlLibrary.problem(ofVersion: 0x07_57_01, named: "7.87.1"))
        #expect(problem.contains("7.87.1 is too old: 7.88.0"))
    }

    @Test("A version that is known to be broken is named, and no other")
    func faults() {
        #expect(CurlLibrary.fault(ofVersion: 0x08_0B_01)?.contains("CVE-2025-0665") == true)
        #expect(CurlLibrary.fault(ofVersion: 0x08_0B_00) == nil)
        #expect(CurlLibrary.fault(ofVersion: 0x08_0C_00) == nil)
    }

    @Test("A build that comes from another system takes the authorities of this one")
    func roots() throws {
        let folder = try TemporaryFolder()
        let (own, system) = (try folder.file("own", ""), try folder.file("system", ""))
        let missing = folder.path + "/missing"
        func found(_ file: String?, _ directory: String?) -> String? {
            CurlLibrary.findRoots(file: file, folder: directory, systemFiles: [missing, system])
        }
        #expect(found(own, folder.path) == own)
        #expect(found(missing, folder.path) == nil)
        #expect(found(missing, missing) == system)
        #expect(found(nil, nil) == system)
        #expect(CurlLibrary.findRoots(file: missing, folder: nil, systemFiles: [missing]) == nil)
    }
}
