// swift-tools-version: 6.2
import PackageDescription

// An app that only uses HTTP, and must not resolve a database.
let package = Package(
    name: "HTTPOnly",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "keel", path: "../../..", traits: ["AsyncHTTPClient"])],
    targets: [
        .testTarget(
            name: "HTTPOnlyTests",
            dependencies: [
                .product(name: "KeelHTTP", package: "keel"),
                .product(name: "KeelTestKit", package: "keel"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]
        )
    ]
)
