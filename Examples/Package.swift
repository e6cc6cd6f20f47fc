// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

// Every app is a folder: Model (what it knows and does, the same everywhere) and App (how it shows that: SwiftUI where
// there is SwiftUI, the terminal elsewhere), which are one module, and Tests. One package holds them, so that Curlew is
// built once for all.
let package = Package(
    name: "Examples",
    // Nothing for televisions and watches: SwiftUI has no files to import there, no swipes, and little room.
    platforms: [.iOS(.v17), .macOS(.v14), .visionOS(.v1)],
    dependencies: [
        .package(name: "Curlew", path: ".."),
        .package(name: "FilmCatalogue", path: "FilmClub/FilmCatalogue"), .package(name: "SampleAPI", path: "SampleAPI"),
    ],
    targets: [
        .executableTarget(
            name: "Tour",
            dependencies: [
                .product(name: "Curlew", package: "Curlew"), .product(name: "CurlewRecording", package: "Curlew"),
                .product(name: "CurlewTesting", package: "Curlew"),
                .product(name: "CurlewSampleAPI", package: "SampleAPI"), "ExampleSupport",
            ], path: "Tour"),
        // What the programs without a screen have in common.
        .target(
            name: "ExampleSupport",
            dependencies: [
                .product(name: "Curlew", package: "Curlew"), .product(name: "CurlewSampleAPI", package: "SampleAPI"),
            ], path: "Support"),
        // What runs those programs in a terminal, for tests.
        .target(name: "ExampleTestSupport", path: "TestSupport"),
    ] + app("DummyStore") + app("TopQuestions") + app("TeamDirectory") + app("LegacyBridge") + app("Storyteller")
        + app("FilmClub", excluding: ["FilmCatalogue"], and: .product(name: "FilmCatalogue", package: "FilmCatalogue"))
        + [
            // The tests of the catalogue's own package, here once more so that one run has all.
            .testTarget(
                name: "FilmCatalogueTests",
                dependencies: [
                    .product(name: "FilmCatalogue", package: "FilmCatalogue"),
                    .product(name: "CurlewTesting", package: "Curlew"),
                ], path: "FilmClub/FilmCatalogue/Tests/FilmCatalogueTests")
        ],
    swiftLanguageModes: [.v6]
)

/// The two targets of an app: the program, of the folders Model and App, and its tests. A program knows the sample
/// service, which runs inside it, and CurlewTesting, which that service is made of: for previews.
func app(_ name: String, excluding folders: [String] = [], and more: Target.Dependency...) -> [Target] {
    let used: [Target.Dependency] =
        ["Curlew", "CurlewTesting", "CurlewUI"].map { .product(name: $0, package: "Curlew") }
        + [.product(name: "CurlewSampleAPI", package: "SampleAPI")] + more
    return [
        .executableTarget(
            name: name, dependencies: ["ExampleSupport"] + used, path: name, exclude: ["Tests"] + folders),
        .testTarget(
            name: "\(name)Tests", dependencies: [.target(name: name), "ExampleTestSupport"] + used,
            path: "\(name)/Tests"),
    ]
}
