// swift-tools-version: 6.2
import PackageDescription

// An app whose declarations are isolated to the main actor by default.
let package = Package(
    name: "MainActorDefault",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "keel", path: "../../..")],
    targets: [
        .testTarget(
            name: "MainActorDefaultTests",
            dependencies: [
                .product(name: "Keel", package: "keel"),
                .product(name: "KeelDependencies", package: "keel"),
                .product(name: "KeelDependenciesTesting", package: "keel"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .defaultIsolation(MainActor.self)]
        )
    ]
)
