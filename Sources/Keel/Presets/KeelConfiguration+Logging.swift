#if Logging
internal import Foundation
public import KeelLogging
internal import Logging

extension KeelConfiguration {
    /// Makes what an app hands to `LoggingSystem.bootstrap`, once, at its start.
    ///
    /// ```swift
    /// LoggingSystem.bootstrap(try keel.makeLogging())
    /// ```
    ///
    /// In tests and previews records go nowhere; a test that looks at them makes a logger over
    /// swift-log's `InMemoryLogHandler`.
    ///
    /// - Parameter output: Where the records of the console or of the file go as well, such as
    ///   `OTLPLogOutput` of KeelLoggingOTLP. In tests and previews it gets none either.
    /// - Returns: What makes a handler for each label.
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
#endif
