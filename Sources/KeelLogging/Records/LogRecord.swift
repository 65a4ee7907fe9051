#if Logging

public import Logging

/// One log record as every output writes it: complete, and already without secrets.
///
/// An output never sees what the app has logged, only this: what ``LogRecorder`` took out is not
/// in it. Names of fields are unique and in ascending order.
public struct LogRecord: Sendable, Hashable {
    /// When it was logged, in microseconds since 1970.
    public var time: Int64
    /// How serious it is.
    public var level: Logger.Level
    /// The label of the logger.
    public var label: String
    /// What happened.
    public var message: String
    /// What belongs to it, by name.
    public var fields: [LogField]
    /// The module that logged.
    public var source: String
    /// The file that logged, as `Module/File.swift`.
    public var file: String
    /// The function that logged.
    public var function: String
    /// The line that logged.
    public var line: UInt

    /// Creates a record.
    ///
    /// Nothing is taken out of the texts: that is ``LogRecorder``'s work.
    ///
    /// - Parameters:
    ///   - time: When it was logged, in microseconds since 1970.
    ///   - level: How serious it is.
    ///   - label: The label of the logger.
    ///   - message: What happened.
    ///   - fields: What belongs to it, in ascending order of unique names.
    ///   - source: The module that logged.
    ///   - file: The file that logged.
    ///   - function: The function that logged.
    ///   - line: The line that logged.
    public init(
        time: Int64,
        level: Logger.Level,
        label: String,
        message: String,
        fields: [LogField] = [],
        source: String,
        file: String,
        function: String,
        line: UInt
    ) {
        self.time = time
        self.level = level
        self.label = label
        self.message = message
        self.fields = fields
        self.source = source
        self.file = file
        self.function = function
        self.line = line
    }

    /// The value of a field.
    public subscript(name: String) -> LogValue? { fields.first { $0.name == name }?.value }

    /// About how many bytes the record takes in memory.
    var byteCount: Int {
        fields.reduce(into: 128 + message.utf8.count) { sum, field in
            sum += field.name.utf8.count + field.value.byteCount + 40
        }
    }
}

/// A name and a value that belong to a record.
public struct LogField: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: LogValue
    /// What still has to be looked at; no part of what the field is.
    var rule = Rule.nothing

    /// Creates a field.
    public init(_ name: String, _ value: LogValue) {
        self.name = name
        self.value = value
    }

    init(_ name: String, _ value: LogValue, rule: Rule) {
        self.name = name
        self.value = value
        self.rule = rule
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.value == right.value
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
    }
}

/// A value that belongs to a record: a text, or several values.
public enum LogValue: Sendable, Hashable {
    /// A text.
    case text(String)
    /// Values in order.
    case list([LogValue])
    /// Values by name, in ascending order of unique names.
    case map([LogField])

    var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .list(let values): values.reduce(16) { $0 + $1.byteCount }
        case .map(let fields): fields.reduce(16) { $0 + $1.name.utf8.count + $1.value.byteCount }
        }
    }
}

extension LogRecord {
    /// The record that says how many others are missing at this place.
    ///
    /// - Parameters:
    ///   - dropped: What is missing.
    ///   - reason: Why, in a few words.
    ///   - time: When this was noticed, in microseconds since 1970.
    /// - Returns: A record of the level `warning`.
    package static func gap(
        _ dropped: DroppedLogRecords,
        because reason: String,
        at time: Int64
    ) -> LogRecord {
        var fields: [LogField] = []
        for level in Logger.Level.allCases where dropped[level] > 0 {
            fields.append(LogField("log.dropped.\(level.rawValue)", .text("\(dropped[level])")))
        }
        return missing(dropped.total, because: reason, fields, at: time)
    }

    /// The record that says how many others are missing, of which nobody knows the level.
    ///
    /// - Parameters:
    ///   - count: How many are missing.
    ///   - time: When this was noticed, in microseconds since 1970.
    /// - Returns: A record of the level `warning`.
    package static func lost(_ count: Int, at time: Int64) -> LogRecord {
        missing(count, because: "the journal was full before they were shipped", [], at: time)
    }

    private static func missing(
        _ count: Int,
        because reason: String,
        _ fields: [LogField],
        at time: Int64
    ) -> LogRecord {
        let all =
            fields + [
                LogField("log.dropped", .text("\(count)")),
                LogField("log.dropped.reason", .text(reason)),
            ]
        return LogRecord(
            time: time,
            level: .warning,
            label: "keel.logging",
            message: "dropped \(count) log records: \(reason)",
            fields: all.sorted { $0.name < $1.name },
            source: "KeelLogging",
            file: #fileID,
            function: #function,
            line: #line
        )
    }
}

/// How many records were dropped, by level.
public struct DroppedLogRecords: Sendable, Hashable {
    /// The counts that are not zero.
    private var counts: [Logger.Level: Int] = [:]

    /// Creates counts of nothing.
    public init() {}

    /// How many were dropped.
    public var total: Int { counts.values.reduce(0, +) }

    /// Whether nothing was dropped.
    var isEmpty: Bool { counts.isEmpty }

    /// How many of a level were dropped.
    public package(set) subscript(level: Logger.Level) -> Int {
        get { counts[level, default: 0] }
        set { counts[level] = newValue == 0 ? nil : newValue }
    }

    /// Takes those away that were told.
    package mutating func subtract(_ told: DroppedLogRecords) {
        for (level, count) in told.counts { self[level] = max(0, self[level] - count) }
    }
}

#endif
