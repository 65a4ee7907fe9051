// swift-tools-version: 6.2
import PackageDescription

/// The settings of the root package.
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
    ]

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

/// A module with the names of one of Apple's that Keel uses.
///
/// Its own name is another one, and only a target beside it knows it by Apple's: a module called
/// Darwin would be found by everything that SwiftPM compiles after it, what others have written too.
func standIn(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: "Apple\(name)", dependencies: dependencies, path: "StandIns/\(name)")
}

/// What a target needs that asks for modules of Apple's.
func beside(
    _ standIns: [String]
) -> (dependencies: [Target.Dependency], settings: [SwiftSetting]) {
    let aliases = standIns.flatMap { ["-module-alias", "\($0)=Apple\($0)"] }
    return (
        standIns.map { .target(name: "Apple\($0)") },
        strict + [.define("Logging"), .unsafeFlags(aliases)]
    )
}

/// A module of Keel, with the stand-ins that it is compiled beside.
func keel(
    _ name: String,
    _ dependencies: [Target.Dependency],
    beside standIns: [String] = []
) -> Target {
    let (modules, settings) = beside(standIns)
    return .target(
        name: name,
        dependencies: dependencies + modules,
        exclude: name == "KeelCore" ? ["PrivacyInfo.xcprivacy"] : [],
        swiftSettings: settings
    )
}

/// Tests, with the stand-ins that they hold in their hands.
func tests(
    _ name: String,
    _ dependencies: [Target.Dependency],
    beside standIns: [String]
) -> Target {
    let (modules, settings) = beside(standIns)
    return .testTarget(
        name: name,
        dependencies: dependencies + modules,
        swiftSettings: settings
    )
}

// Keel beside modules that are called as Apple's are: what is written for Apple's systems compiles and
// is tested on Linux. Documentation/Platforms.md lists it by file, and says what a stand-in cannot show.
// The sources are those of the root package, by symbolic links, because a target of another package
// cannot be given a dependency.
let package = Package(
    name: "keel-apple",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        standIn("CFNetwork"),
        standIn("Combine"),
        standIn("CoreData"),
        standIn("CoreLocation"),
        standIn("CryptoKit"),
        standIn("Darwin", ["CKeelAttributes"]),
        standIn("Network"),
        standIn("Security"),
        standIn("SwiftData"),
        standIn("os"),

        .systemLibrary(name: "CKeelAttributes"),
        .systemLibrary(name: "CKeelChecksum"),
        .systemLibrary(name: "CKeelZlib"),
        keel("KeelZlib", ["CKeelZlib"]),
        keel("KeelCore", ["CKeelChecksum"], beside: ["Darwin"]),
        keel("KeelDependencies", [], beside: ["Darwin"]),
        keel("KeelJournal", ["KeelCore"]),
        keel("KeelAnalytics", ["KeelCore", "KeelJournal"], beside: ["Darwin"]),
        keel("KeelCache", ["KeelCore"], beside: ["Darwin"]),
        keel("KeelFiles", ["CKeelAttributes", "KeelCore"], beside: ["Darwin"]),
        keel(
            "KeelHTTP",
            ["KeelCore", httpTypes],
            beside: ["CFNetwork", "CryptoKit", "Darwin", "Network", "Security"]
        ),
        keel("KeelHTTPCaching", ["KeelCache", "KeelCore", "KeelHTTP", httpTypes]),
        keel(
            "KeelHTTPTransfers",
            ["KeelCore", "KeelHTTP", httpTypes],
            beside: ["CFNetwork", "Darwin"]
        ),
        keel("KeelHTTPCompression", ["KeelHTTP", "KeelZlib", httpTypes]),
        keel("KeelHTTPSecrets", ["KeelCore", "KeelHTTP", "KeelSecrets"]),
        keel("KeelLocation", ["KeelCore"], beside: ["Combine", "CoreLocation", "Darwin"]),
        keel("KeelLogging", ["KeelCore", "KeelZlib", logging], beside: ["Darwin", "os"]),
        keel("KeelSecrets", ["KeelCore"], beside: ["Darwin", "Security"]),
        keel("KeelSecurity", ["KeelCore"]),
        keel("KeelSecurityFiles", ["KeelFiles", "KeelSecurity"]),
        keel("KeelSecuritySecrets", ["KeelCore", "KeelSecrets", "KeelSecurity"]),
        keel("KeelDocuments", ["KeelCore"]),
        keel("KeelStorageAdapting", ["KeelCore", "KeelDocuments"]),
        keel("KeelStorage", ["KeelCore", "KeelDocuments", "KeelStorageAdapting"]),
        keel("KeelStorageFirestore", ["KeelCore", "KeelHTTP", "KeelStorageAdapting", httpTypes]),
        keel("KeelSync", ["KeelCore", "KeelStorage"], beside: ["Darwin"]),
        keel(
            "KeelRepositories",
            ["KeelCache", "KeelCore", "KeelHTTP", "KeelStorage", "KeelSync", httpTypes],
            beside: ["CoreData", "SwiftData"]
        ),
        // Without the modules of traits that are off here.
        keel(
            "Keel",
            [
                "KeelAnalytics", "KeelCache", "KeelCore", "KeelDependencies", "KeelFiles",
                "KeelHTTP", "KeelHTTPCaching", "KeelHTTPSecrets", "KeelLocation", "KeelLogging",
                "KeelRepositories", "KeelSecrets", "KeelSecurity", "KeelSecurityFiles",
                "KeelSecuritySecrets", "KeelStorage", "KeelStorageFirestore", "KeelSync",
                httpTypes, logging,
            ],
            beside: ["Darwin"]
        ),
        keel(
            "KeelTestKit",
            [
                "KeelAnalytics", "KeelCache", "KeelCore", "KeelFiles", "KeelHTTP",
                "KeelHTTPCompression", "KeelLocation", "KeelSecrets", "KeelStorageAdapting",
                httpTypes,
            ],
            beside: ["Darwin"]
        ),
        keel(
            "KeelConformance",
            [
                "KeelAnalytics", "KeelCache", "KeelCore", "KeelFiles", "KeelHTTP", "KeelLocation",
                "KeelRepositories", "KeelSecrets", "KeelStorage", "KeelTestKit", httpTypes,
            ]
        ),

        keel("KeelToolSupport", ["KeelCore"], beside: ["Darwin"]),

        tests(
            "BackgroundTransferTests",
            ["KeelCore", "KeelHTTP", "KeelHTTPTransfers", "KeelTestKit", httpTypes],
            beside: ["CFNetwork"]
        ),
        tests(
            "CoreLocationTests",
            ["Keel", "KeelConformance", "KeelCore", "KeelLocation"],
            beside: ["Combine", "CoreLocation"]
        ),
        tests(
            "DarwinTests",
            [
                "Keel", "KeelAnalytics", "KeelConformance", "KeelCore", "KeelFiles", "KeelHTTP",
                "KeelLocation", "KeelSync", "KeelToolSupport",
            ],
            beside: ["Darwin", "Network"]
        ),
        tests(
            "DataSourceTests",
            ["KeelConformance", "KeelRepositories"],
            beside: ["CoreData", "SwiftData"]
        ),
        tests(
            "DataSourceExampleTests",
            ["KeelRepositories"],
            beside: ["CoreData", "SwiftData"]
        ),
        tests(
            "KeychainTests",
            ["Keel", "KeelConformance", "KeelCore", "KeelSecrets"],
            beside: ["Security"]
        ),
        tests("OSLogTests", ["KeelCore", "KeelLogging", logging], beside: ["os"]),
        tests("URLSessionTests", ["KeelCore", "KeelHTTP", httpTypes], beside: ["Security"]),
    ]
)

// Apple's classes do not all say whether they can be sent.
for target in package.targets where target.path?.hasPrefix("StandIns") == true {
    target.swiftSettings = Array(strict.dropLast())
}
