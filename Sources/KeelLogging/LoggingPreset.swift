#if Logging

internal import KeelCore
public import Logging

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What an app hands to `LoggingSystem.bootstrap`, for the usual cases.
///
/// ```swift
/// #if DEBUG
/// LoggingSystem.bootstrap(LoggingPreset.development())
/// #else
/// LoggingSystem.bootstrap(try LoggingPreset.production(at: folder.appending(path: "app.log")))
/// #endif
/// ```
///
/// Nothing here bootstraps by itself: that is the app's, once, at its start.
public enum LoggingPreset: Sendable {
    /// What makes a handler for each label.
    public typealias Factory = @Sendable (_ label: String) -> any LogHandler

    /// Everything from `debug` to the console, as fits who looks, and to an output that ships it where
    /// one is given.
    ///
    /// - Parameters:
    ///   - level: The lowest level that is written.
    ///   - output: Where records go.
    ///   - shipping: Another output, such as `OTLPLogOutput` of KeelLoggingOTLP.
    ///   - recorder: What takes secrets out.
    ///   - metadataProvider: What adds metadata to each record.
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

    /// Everything from `info` to a rotating file, and to an output that ships it where one is given.
    ///
    /// - Parameters:
    ///   - file: The file that is written; rotated ones lie beside it.
    ///   - configuration: When the file is rotated, and what becomes of it.
    ///   - level: The lowest level that is written.
    ///   - shipping: Another output, such as `OTLPLogOutput` of KeelLoggingOTLP.
    ///   - recorder: What takes secrets out.
    ///   - metadataProvider: What adds metadata to each record.
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

    /// Makes handlers over one output, or over two that get the same records.
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
        // One record for both, so that secrets are looked for once.
        return factory(LogOutputs([output, shipping]), nil, level, recorder, metadataProvider)
    }
}

/// Several outputs that get the same records.
///
/// `MultiplexLogHandler` of swift-log joins handlers of any kind and gives each its own level; this
/// joins outputs, for which each record is made once.
public struct LogOutputs: LogOutput {
    private let outputs: [any LogOutput]

    /// Creates an output out of several.
    public init(_ outputs: [any LogOutput]) { self.outputs = outputs }

    public func write(_ record: LogRecord) {
        for output in outputs { output.write(record) }
    }

    public func synchronize() {
        for output in outputs { output.synchronize() }
    }
}

#endif
