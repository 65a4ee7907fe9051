#if Logging

internal import KeelCore
public import Logging

/// A swift-log handler over any log output.
///
/// ```swift
/// let file = try RotatingLogFile(at: folder.appending(path: "app.log"))
/// LoggingSystem.bootstrap { label in RotatingFileLogHandler(label: label, output: file) }
/// ```
///
/// The handler is a value: changes to the level and metadata of one logger do not affect another. The output is shared.
/// A record of level `critical` is synchronized before the call returns.
public struct OutputLogHandler<Output: LogOutput>: LogHandler {
    public var logLevel: Logger.Level
    public var metadataProvider: Logger.MetadataProvider?
    public var metadata: Logger.Metadata = [:] {
        didSet { base = recorder.fields(of: metadata) }
    }

    /// The label of the logger.
    public let label: String

    private let recorder: LogRecorder
    private var base: [LogField] = []
    /// The output, if it can write events without records.
    private let direct: (any DirectLogOutput)?
    private let output: Output

    /// Creates a handler that logs from `level` on; the recorder makes and redacts the records.
    public init(
        label: String,
        output: Output,
        level: Logger.Level = .info,
        recorder: LogRecorder = .standard,
        metadataProvider: Logger.MetadataProvider? = nil
    ) {
        self.label = label
        self.output = output
        direct = output as? any DirectLogOutput
        self.logLevel = level
        self.recorder = recorder
        self.metadataProvider = metadataProvider
    }

    public subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        let time = recorder.time
        let provided = metadataProvider?.get()
        let isWritten = direct?.write(event.level, at: time) { format, line in
            format.isJSON
                && JSONLine.append(
                    event,
                    at: time,
                    label: label,
                    base: base,
                    provided: provided,
                    recorder: recorder,
                    to: &line
                )
        }
        if isWritten == true { return }
        let record = recorder.record(
            event,
            at: time,
            label: label,
            base: base,
            provided: provided
        )
        output.write(record)
        if event.level == .critical { output.synchronize() }
    }
}

/// A handler that writes to the console.
public typealias ConsoleLogHandler = OutputLogHandler<ConsoleLogOutput>

/// A handler that writes to a rotating file.
public typealias RotatingFileLogHandler = OutputLogHandler<RotatingLogFile>

extension OutputLogHandler where Output == ConsoleLogOutput {
    /// Creates a handler that writes to standard error, with the defaults of ``ConsoleLogOutput``.
    public init(label: String) {
        self.init(label: label, output: .standardError)
    }
}

#endif
