// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

// Every app is a folder: Model (what it knows and does, the same everywhere), App (how it shows that: SwiftUI where
// there is SwiftUI, the terminal elsewhere), and Tests. One package holds them, so that Curlew is built once for all.
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
                .product(name: "Curlew", package: "Curlew"), .product(name: "CurlewSampleAPI", package: "SampleAPI"),
                "ExampleSupport",
            ], path: "Tour"),
        // What the programs without a screen have in common.
        .target(
            name: "ExampleSupport",
            dependencies: [
                .product(name: "Curlew", package: "Curlew"), .product(name: "CurlewSampleAPI", package: "SampleAPI"),
            ], path: "Support"),
        // What runs those programs in a terminal, for tests.
        .target(name: "ExampleTestSupport", path: "TestSupport"),
    ] + app("DummyStore") + app("TopQuestions", embedding: ["Preview/Questions.json"]) + app("TeamDirectory")
        + app("LegacyBridge") + app("Storyteller")
        + app("FilmClub", and: [.product(name: "FilmCatalogue", package: "FilmCatalogue")]) + [
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

/// The three targets of an app. All of them may use Curlew; only the program and the tests know the sample server, and
/// CurlewTesting, which it is made of: for previews. Tests may use what the program has, and run it.
///
/// - `embedding`: files in App that become part of the program.
func app(_ name: String, and more: [Target.Dependency] = [], embedding files: [String] = []) -> [Target] {
    let model = "\(name)Model"
    let used: [Target.Dependency] =
        [
            .product(name: "Curlew", package: "Curlew"), .product(name: "CurlewUI", package: "Curlew"),
        ] + more
    let server: [Target.Dependency] = [
        .product(name: "CurlewSampleAPI", package: "SampleAPI"), .product(name: "CurlewTesting", package: "Curlew"),
    ]
    return [
        .target(name: model, dependencies: used, path: "\(name)/Model"),
        .executableTarget(
            name: name, dependencies: [.target(name: model), "ExampleSupport"] + server + used, path: "\(name)/App",
            resources: files.map { .embedInCode($0) }),
        .testTarget(
            name: "\(name)Tests",
            dependencies: [.target(name: model), .target(name: name), "ExampleTestSupport"] + server + used,
            path: "\(name)/Tests"),
    ]
}
