// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

// The networking of an app as a package of its own: what is asked, how, and what the responses mean. Screens know its
// `FilmService`, and neither paths nor statuses.
let package = Package(
    name: "FilmCatalogue",
    platforms: [.iOS(.v17), .macOS(.v14), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    products: [.library(name: "FilmCatalogue", targets: ["FilmCatalogue"])],
    dependencies: [.package(name: "Curlew", path: "../../..")],
    targets: [
        .target(
            name: "FilmCatalogue",
            dependencies: [
                .product(name: "Curlew", package: "Curlew"), .product(name: "CurlewSQLite", package: "Curlew"),
            ]),
        .testTarget(
            name: "FilmCatalogueTests",
            dependencies: ["FilmCatalogue", .product(name: "CurlewTesting", package: "Curlew")]),
    ],
    swiftLanguageModes: [.v6]
)
