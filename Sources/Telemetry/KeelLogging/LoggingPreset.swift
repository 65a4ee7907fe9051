#if Logging

internal import KeelCore
public import Logging

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Ready-made arguments for `LoggingSystem.bootstrap`.
///
/// ```swift
/// #if DEBUG
/// LoggingSystem.bootstrap(LoggingPreset.development())
/// #else
/// LoggingSystem.bootstrap(try LoggingPreset.production(at: folder.appending(path: "app.log")))
/// #endif
/// ```
///
/// The app bootstraps once, at launch.
public enum LoggingPreset: Sendable {
    /// A function that makes a handler for each label.
    public typealias Factory = @Sendable (_ label: String) -> any LogHandler

    /// Returns a factory that logs everything from `level` to the console.
    ///
    /// - Parameters:
    ///   - level: The lowest level that is logged.
    ///   - output: The console output.
    ///   - shipping: A further output, such as `OTLPLogOutput` of KeelLoggingOTLP.
    ///   - recorder: The recorder that redacts secrets.
    ///   - metadataProvider: A provider of metadata for each record.
    /// - Returns: The factory.
    public static func development(
        level: Logger.Level = .debug,
        output: ConsoleLogOutput = .standardError,
        shipping: (any LogOutput)? = nil,
        recorder: LogRecorder = .standard,
        metadataProvider: Logger.MetadataProvider? = nil
    ) -> Factory {
        factory(output, shipping, level, recorder, metadataProvider)
    }

    /// Returns a factory that logs everything from `level` to a rotating file.
    ///
    /// - Parameters:
    ///   - file: The log file; rotated files are created next to it.
    ///   - configuration: The rotation of the file, and the retention of rotated files.
    ///   - level: The lowest level that is logged.
    ///   - shipping: A further output, such as `OTLPLogOutput` of KeelLoggingOTLP.
    ///   - recorder: The recorder that redacts secrets.
    ///   - metadataProvider: A provider of metadata for each record.
    /// - Returns: The factory.
    /// - Throws: ``LoggingError`` if the file cannot be opened.
    public static func production(
        at file: URL,
        configuration: LogFileConfiguration = LogFileConfiguration(),
        level: Logger.Level = .info,
        shipping: (any LogOutput)? = nil,
        recorder: LogRecorder = .standard,
        metadataProvider: Logger.MetadataProvider? = nil
    ) throws(LoggingError) -> Factory {
        let output = try RotatingLogFile(at: file, configuration)
        return factory(output, shipping, level, recorder, metadataProvider)
    }

    /// Makes handlers over one output, or over two that receive the same records.
    private static func factory(
        _ output: some LogOutput,
        _ shipping: (any LogOutput)?,
        _ level: Logger.Level,
        _ recorder: LogRecorder,
        _ metadataProvider: Logger.MetadataProvider?
    ) -> Factory {
        guard let shipping else {
            return { label in
                OutputLogHandler(
                    label: label,
                    output: output,
                    level: level,
                    recorder: recorder,
                    metadataProvider: metadataProvider
                )
            }
        }
        // One record for both, so that it is redacted once.
        return factory(
            MultiplexLogOutput([output, shipping]),
            nil,
            level,
            recorder,
            metadataProvider
        )
    }
}

/// An output that passes each record to several outputs, and makes it only once.
///
/// `MultiplexLogHandler` of swift-log combines handlers of any kind, each with its own level.
public struct MultiplexLogOutput: LogOutput {
    private let outputs: [any LogOutput]

    /// Creates an output from several.
    public init(_ outputs: [any LogOutput]) { self.outputs = outputs }

    public func write(_ record: LogRecord) {
        for output in outputs { output.write(record) }
    }

    public func synchronize() {
        for output in outputs { output.synchronize() }
    }
}
#else
/// Ready-made arguments for `LoggingSystem.bootstrap`; requires the trait `Logging`.
@available(*, unavailable, message: "Enable the 'Logging' trait of the keel package.")
public enum LoggingPreset: Sendable {}
#endif
