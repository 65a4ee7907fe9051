#if Logging
internal import Foundation
public import KeelDependencies
public import Logging

/// The dependency key of the app's swift-log logger; `import Logging` to use it.
///
/// The live value has the process's name as its label, and logs to the app's bootstrapped handler; see
/// ``KeelConfiguration/makeLogging(shipping:)``. Tests and previews discard everything.
public enum LoggerDependency: DependencyKey, Sendable {
    public static var liveValue: Logger { Logger(label: ProcessInfo.processInfo.processName) }

    public static var testValue: Logger { silent }

    public static var previewValue: Logger { silent }

    private static var silent: Logger {
        Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }
    }
}

extension DependencyValues {
    /// The app's logger.
    public var logger: Logger {
        get { self[LoggerDependency.self] }
        set { self[LoggerDependency.self] = newValue }
    }
}
#endif
