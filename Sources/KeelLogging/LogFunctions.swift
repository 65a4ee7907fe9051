#if Logging

public import Logging

// The words of an app for logging, with the place of the call. They come in two forms: on a logger
// that the app has, and as functions that log to the logger of the current task
// (`Logger.current`, which `withLogger` sets).

extension Logger {
    /// Logs what is of interest while somebody looks for a fault.
    public func logDebug(
        _ message: @autoclosure () -> String,
        metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID,
        function: String = #function,
        line: UInt = #line
    ) {
        debug(
            Message(stringLiteral: message()),
            metadata: metadata(),
            file: file,
            function: function,
            line: line
        )
    }

    /// Logs what is worth knowing.
    public func logInfo(
        _ message: @autoclosure () -> String,
        metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID,
        function: String = #function,
        line: UInt = #line
    ) {
        info(
            Message(stringLiteral: message()),
            metadata: metadata(),
            file: file,
            function: function,
            line: line
        )
    }

    /// Logs what may become a failure.
    public func logWarning(
        _ message: @autoclosure () -> String,
        metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID,
        function: String = #function,
        line: UInt = #line
    ) {
        warning(
            Message(stringLiteral: message()),
            metadata: metadata(),
            file: file,
            function: function,
            line: line
        )
    }

    /// Logs a failure, and the error behind it.
    public func logError(
        _ message: @autoclosure () -> String,
        error: (any Error)? = nil,
        metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID,
        function: String = #function,
        line: UInt = #line
    ) {
        self.error(
            Message(stringLiteral: message()),
            error: error,
            metadata: metadata(),
            file: file,
            function: function,
            line: line
        )
    }

    /// Logs a failure that the program cannot go on from, and the error behind it.
    ///
    /// The level is `critical`. With a handler of this module that writes to a file or a journal,
    /// the record is on the disk when the call returns; the program is not ended.
    public func logFatal(
        _ message: @autoclosure () -> String,
        error: (any Error)? = nil,
        metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID,
        function: String = #function,
        line: UInt = #line
    ) {
        critical(
            Message(stringLiteral: message()),
            error: error,
            metadata: metadata(),
            file: file,
            function: function,
            line: line
        )
    }
}

/// Logs what is of interest while somebody looks for a fault, to the logger of the task.
public func logDebug(
    _ message: @autoclosure () -> String,
    metadata: @autoclosure () -> Logger.Metadata? = nil,
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line
) {
    Logger.current.logDebug(
        message(),
        metadata: metadata(),
        file: file,
        function: function,
        line: line
    )
}

/// Logs what is worth knowing, to the logger of the task.
public func logInfo(
    _ message: @autoclosure () -> String,
    metadata: @autoclosure () -> Logger.Metadata? = nil,
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line
) {
    Logger.current.logInfo(
        message(),
        metadata: metadata(),
        file: file,
        function: function,
        line: line
    )
}

/// Logs what may become a failure, to the logger of the task.
public func logWarning(
    _ message: @autoclosure () -> String,
    metadata: @autoclosure () -> Logger.Metadata? = nil,
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line
) {
    Logger.current.logWarning(
        message(),
        metadata: metadata(),
        file: file,
        function: function,
        line: line
    )
}

/// Logs a failure, and the error behind it, to the logger of the task.
public func logError(
    _ message: @autoclosure () -> String,
    error: (any Error)? = nil,
    metadata: @autoclosure () -> Logger.Metadata? = nil,
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line
) {
    Logger.current.logError(
        message(),
        error: error,
        metadata: metadata(),
        file: file,
        function: function,
        line: line
    )
}

/// Logs a failure that the program cannot go on from, to the logger of the task.
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
    Logger.current.logFatal(
        message(),
        error: error,
        metadata: metadata(),
        file: file,
        function: function,
        line: line
    )
}

#endif
