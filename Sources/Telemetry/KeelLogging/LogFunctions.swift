#if Logging

public import Logging

// Logging functions that record the place of the call, in two forms: methods of a logger, and
// functions that log to the current task's logger (`Logger.current`, which `withLogger` sets).

extension Logger {
    /// Logs a message of use for debugging.
    public func logDebug(
        _ message: @autoclosure () -> String,
        metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID,
        function: String = #function,
        line: UInt = #line
    ) {
        record(.debug, message, nil, metadata, file, function, line)
    }

    /// Logs a message of general interest.
    public func logInfo(
        _ message: @autoclosure () -> String,
        metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID,
        function: String = #function,
        line: UInt = #line
    ) {
        record(.info, message, nil, metadata, file, function, line)
    }

    /// Logs a condition that can lead to a failure.
    public func logWarning(
        _ message: @autoclosure () -> String,
        metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID,
        function: String = #function,
        line: UInt = #line
    ) {
        record(.warning, message, nil, metadata, file, function, line)
    }

    /// Logs a failure and its error.
    public func logError(
        _ message: @autoclosure () -> String,
        error: (any Error)? = nil,
        metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID,
        function: String = #function,
        line: UInt = #line
    ) {
        record(.error, message, error, metadata, file, function, line)
    }

    /// Logs a failure that the program cannot recover from, and its error.
    ///
    /// The level is `critical`. With a handler of this module that writes to a file or a journal,
    /// the record is on disk when the call returns. The program is not terminated.
    public func logFatal(
        _ message: @autoclosure () -> String,
        error: (any Error)? = nil,
        metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID,
        function: String = #function,
        line: UInt = #line
    ) {
        record(.critical, message, error, metadata, file, function, line)
    }

    fileprivate func record(
        _ level: Level,
        _ message: () -> String,
        _ error: (any Error)?,
        _ metadata: () -> Metadata?,
        _ file: String,
        _ function: String,
        _ line: UInt
    ) {
        log(
            level: level,
            Message(stringLiteral: message()),
            error: error,
            metadata: metadata(),
            file: file,
            function: function,
            line: line
        )
    }
}

/// Logs a message of use for debugging to the current task's logger.
public func logDebug(
    _ message: @autoclosure () -> String,
    metadata: @autoclosure () -> Logger.Metadata? = nil,
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line
) {
    Logger.current.record(.debug, message, nil, metadata, file, function, line)
}

/// Logs a message of general interest to the current task's logger.
public func logInfo(
    _ message: @autoclosure () -> String,
    metadata: @autoclosure () -> Logger.Metadata? = nil,
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line
) {
    Logger.current.record(.info, message, nil, metadata, file, function, line)
}

/// Logs a condition that can lead to a failure to the current task's logger.
public func logWarning(
    _ message: @autoclosure () -> String,
    metadata: @autoclosure () -> Logger.Metadata? = nil,
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line
) {
    Logger.current.record(.warning, message, nil, metadata, file, function, line)
}

/// Logs a failure and its error to the current task's logger.
public func logError(
    _ message: @autoclosure () -> String,
    error: (any Error)? = nil,
    metadata: @autoclosure () -> Logger.Metadata? = nil,
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line
) {
    Logger.current.record(.error, message, error, metadata, file, function, line)
}

/// Logs a failure that the program cannot recover from to the current task's logger.
///
/// See `Logger.logFatal(_:error:metadata:file:function:line:)`.
public func logFatal(
    _ message: @autoclosure () -> String,
    error: (any Error)? = nil,
    metadata: @autoclosure () -> Logger.Metadata? = nil,
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line
) {
    Logger.current.record(.critical, message, error, metadata, file, function, line)
}

#endif
