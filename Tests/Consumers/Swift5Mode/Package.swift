// swift-tools-version: 6.2
import PackageDescription

// An app in the Swift 5 language mode, which Keel must support.
let package = Package(
    name: "Swift5Mode",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "keel", path: "../../..")],
    targets: [
        .testTarget(
            name: "Swift5ModeTests",
            dependencies: [
                .product(name: "Keel", package: "keel"),
                .product(name: "KeelDependencies", package: "keel"),
                .product(name: "KeelDependenciesTesting", package: "keel"),
                .product(name: "KeelStorageAdapting", package: "keel"),
            ],
            swiftSettings: [.swiftLanguageMode(.v5)]
        )
    ]
)
