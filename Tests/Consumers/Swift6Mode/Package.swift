// swift-tools-version: 6.2
import PackageDescription

// An app in the Swift 6 language mode, without any upcoming feature.
let package = Package(
    name: "Swift6Mode",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "keel", path: "../../..")],
    targets: [
        .target(name: "OwnNames", swiftSettings: [.swiftLanguageMode(.v6)]),
        .testTarget(
            name: "Swift6ModeTests",
            dependencies: [
                "OwnNames",
                .product(name: "Keel", package: "keel"),
                .product(name: "KeelDependencies", package: "keel"),
                .product(name: "KeelDependenciesTesting", package: "keel"),
                .product(name: "KeelStorageAdapting", package: "keel"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]
        ),
    ]
)
