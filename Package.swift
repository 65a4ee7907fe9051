// swift-tools-version: 6.2
import PackageDescription

/// The settings of every target: see STYLE in CONTRIBUTING.md.
let strict: [SwiftSetting] =
    [
        "ExistentialAny",
        "InternalImportsByDefault",
        "MemberImportVisibility",
        "NonisolatedNonsendingByDefault",
        "InferIsolatedConformances",
    ].map { .enableUpcomingFeature($0) } + [
        .treatAllWarnings(as: .error),
        .treatWarning("ExplicitSendable", as: .error),
        .treatWarning("DeprecatedDeclaration", as: .warning),
    ]

/// GRDB, and the system's SQLite that it links: the adapter calls both.
let grdb: [Target.Dependency] = ["GRDB", "GRDBSQLite"].map { name in
    .product(name: name, package: "GRDB.swift", condition: .when(traits: ["SQLite"]))
}

let package = Package(
    name: "keel",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "KeelCore", targets: ["KeelCore"]),
        .library(name: "KeelConformance", targets: ["KeelConformance"]),
        .library(name: "KeelDependencies", targets: ["KeelDependencies"]),
        .library(name: "KeelDependenciesTesting", targets: ["KeelDependenciesTesting"]),
        .library(name: "KeelStorage", targets: ["KeelStorage"]),
        .library(name: "KeelStorageSQLite", targets: ["KeelStorageSQLite"]),
    ],
    traits: [
        .trait(name: "SQLite", description: "Keeps documents in an SQLite file, on GRDB."),
        .default(enabledTraits: ["SQLite"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")
    ],
    targets: [
        .target(name: "KeelCore"),
        .target(name: "KeelStorage", dependencies: ["KeelCore"]),
        .target(name: "KeelStorageFirestore", dependencies: ["KeelStorage"]),
        .target(name: "KeelConformance", dependencies: ["KeelCore", "KeelStorage"]),
        .target(name: "KeelDependencies"),
        .target(name: "KeelDependenciesTesting", dependencies: ["KeelDependencies"]),
        .testTarget(name: "KeelCoreTests", dependencies: ["KeelCore"]),
        .testTarget(
            name: "KeelConformanceTests",
            dependencies: [
                "KeelConformance", "KeelCore", "KeelStorage", "KeelStorageFirestore",
                "KeelStorageSQLite",
            ]
        ),
        .testTarget(
            name: "KeelDependenciesTests",
            dependencies: ["KeelDependencies", "KeelDependenciesTesting"]
        ),
        .testTarget(
            name: "KeelStorageTests",
            dependencies: ["KeelConformance", "KeelCore", "KeelStorage"]
        ),
        .target(
            name: "KeelStorageSQLite",
            dependencies: ["KeelCore", "KeelStorage"] + grdb
        ),
        .executableTarget(
            name: "KeelStorageCrashWriter",
            dependencies: ["KeelStorage", "KeelStorageSQLite"],
            path: "Tests/Support/KeelStorageCrashWriter"
        ),
        .testTarget(
            name: "KeelStorageSQLiteTests",
            dependencies: [
                "KeelCore", "KeelStorage", "KeelStorageSQLite", "KeelStorageCrashWriter",
            ] + grdb
        ),
    ]
)

for target in package.targets {
    target.swiftSettings = (target.swiftSettings ?? []) + strict
}
