#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

/// The context that selects the default value of a key.
///
/// The context is detected from the process: ``test`` in a test runner, ``preview`` in an Xcode preview, and otherwise
/// ``live``. The environment variable `KEEL_DEPENDENCY_CONTEXT` with the value `live`, `test` or `preview` takes
/// precedence, so a test can start an app as a separate process that uses test values. A release build accepts only
/// `live`, and reports on standard error that it ignores `test` or `preview`. To change the context of a part of the
/// program, set ``DependencyValues/context``:
///
/// ```swift
/// withDependencies { $0.context = .live } operation: { start() }
/// ```
public enum DependencyContext: String, Hashable, Sendable, CaseIterable {
    /// A running app.
    case live
    /// A test of Swift Testing or XCTest.
    case test
    /// An Xcode preview.
    case preview
}

extension DependencyContext {
    static let ofProcess = detected(
        arguments: CommandLine.arguments,
        environment: ProcessInfo.processInfo.environment,
        isReleaseBuild: isReleaseBuild
    ) { message in
        let line = Array((message + "\n").utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    #if DEBUG
    private static let isReleaseBuild = false
    #else
    private static let isReleaseBuild = true
    #endif

    package static func detected(
        arguments: [String],
        environment: [String: String],
        isReleaseBuild: Bool,
        warn: (String) -> Void
    ) -> Self {
        let variable = "KEEL_DEPENDENCY_CONTEXT"
        if let named = environment[variable].flatMap(Self.init(rawValue:)) {
            if named == .live || !isReleaseBuild { return named }
            warn("\(variable)=\(named.rawValue) is ignored: this is a release build.")
        }
        if environment["XCODE_RUNNING_FOR_PREVIEWS"] == "1" {
            return .preview
        }
        let testVariables = [
            "XCTestConfigurationFilePath", "XCTestBundlePath", "XCTestSessionIdentifier",
        ]
        if testVariables.contains(where: { environment[$0] != nil }) {
            return .test
        }
        guard let program = arguments.first?.split(separator: "/").last else { return .live }
        let isRunner =
            program.hasSuffix(".xctest")
            || program == "xctest"
            || program == "swiftpm-testing-helper"
            || arguments.contains("--testing-library")
        return isRunner ? .test : .live
    }
}
