#if Logging
internal import Foundation
public import KeelLogging
internal import Logging

extension KeelConfiguration {
    /// Returns the argument for `LoggingSystem.bootstrap`, to be called once at launch.
    ///
    /// ```swift
    /// LoggingSystem.bootstrap(try keel.makeLogging())
    /// ```
    ///
    /// With ``LogLocation/none``, as in tests and previews, records are discarded.
    ///
    /// - Parameter output: A further output for the records, such as `OTLPLogOutput` of KeelLoggingOTLP; not used with
    ///   ``LogLocation/none``.
    /// - Returns: A factory that makes a handler for each label.
    /// - Throws: `LoggingError` if the file cannot be opened.
    public func makeLogging(
        shipping output: (any LogOutput)? = nil
    ) throws(LoggingError) -> LoggingPreset.Factory {
        switch logs {
        case .none: return { _ in SwiftLogNoOpLogHandler() }
        case .console: return LoggingPreset.development(shipping: output)
        case .file(let url): return try LoggingPreset.production(at: url, shipping: output)
        case .applicationSupport(let app):
            let folder = FileLocation.applicationSupport(of: app).appending(path: "Logs")
            return try LoggingPreset.production(
                at: folder.appending(path: "app.log"),
                shipping: output
            )
        }
    }
}
#else
extension KeelConfiguration {
    /// Returns the argument for `LoggingSystem.bootstrap`; requires the trait `Logging`.
    @available(*, unavailable, message: "Enable the 'Logging' trait of the keel package.")
    public func makeLogging(shipping output: (any Sendable)? = nil) -> Self { self }
}
#endif
