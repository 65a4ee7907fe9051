#if Logging && canImport(os)

internal import Logging
internal import os

/// Writes records to the unified log of Apple's systems.
///
/// The text is already redacted and therefore logged as public: Console and `log stream` show it. The category is the
/// logger's label. This type has been tested against a stand-in for Apple's module only.
public final class OSLogOutput: LogOutput {
    private let subsystem: String

    /// Creates an output.
    ///
    /// - Parameter subsystem: The subsystem, by convention the bundle identifier.
    public init(subsystem: String) { self.subsystem = subsystem }

    public func write(_ record: LogRecord) {
        let log = os.Logger(subsystem: subsystem, category: record.label)
        var text = record.message
        for field in record.fields { text += " \(field.name)=\(field.value)" }
        log.log(level: record.level.osLogType, "\(text, privacy: .public)")
    }

    /// Does nothing: the system persists the log by its own rules.
    public func synchronize() {}
}

/// A handler that writes to the unified log of Apple's systems.
public typealias OSLogHandler = OutputLogHandler<OSLogOutput>

extension Logging.Logger.Level {
    fileprivate var osLogType: OSLogType {
        switch self {
        case .trace, .debug: .debug
        case .info: .info
        case .notice, .warning: .default
        case .error: .error
        case .critical: .fault
        }
    }
}

#endif
