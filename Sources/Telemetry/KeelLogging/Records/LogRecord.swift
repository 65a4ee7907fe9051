#if Logging

public import Logging

/// A complete, already redacted log record, as every output writes it.
///
/// It has nothing that ``LogRecorder`` has removed. Field names are unique and in ascending order.
public struct LogRecord: Sendable, Hashable {
    /// The time in microseconds since 1970.
    public var time: Int64
    /// The level.
    public var level: Logger.Level
    /// The label of the logger.
    public var label: String
    /// The message.
    public var message: String
    /// The fields, in ascending order of their names.
    public var fields: [LogField]
    /// The module of the log statement.
    public var source: String
    /// The file of the log statement, as `Module/File.swift`.
    public var file: String
    /// The function of the log statement.
    public var function: String
    /// The line of the log statement.
    public var line: UInt

    /// Creates a record; the time is in microseconds since 1970, and the fields are in ascending order of unique names.
    ///
    /// The texts are not redacted; ``LogRecorder`` does that.
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

    /// The value of the field with a name.
    public subscript(name: String) -> LogValue? { fields.first { $0.name == name }?.value }

    /// The approximate size of the record in memory in bytes.
    var byteCount: Int {
        fields.reduce(into: 128 + message.utf8.count) { sum, field in
            sum += field.name.utf8.count + field.value.byteCount + 40
        }
    }
}

/// A named value of a record.
public struct LogField: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: LogValue
    /// The check still needed; not part of the field's identity.
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

/// A value of a record: a text, a list or a map.
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
    /// Returns the warning that reports how many records are missing at this point, and the reason in a few words.
    ///
    /// The gap was noticed at `time`, in microseconds since 1970.
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

    /// Returns the record that reports missing records of unknown level, noticed at `time` in microseconds since 1970.
    ///
    /// - Returns: A record of level `warning`.
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

/// The number of dropped records, by level.
public struct DroppedLogRecords: Sendable, Hashable {
    private var counts: [Logger.Level: Int] = [:]

    /// Creates counts of zero.
    public init() {}

    /// The number of dropped records of all levels.
    public var total: Int { counts.values.reduce(0, +) }

    var isEmpty: Bool { counts.isEmpty }

    /// The number of dropped records of a level.
    public package(set) subscript(level: Logger.Level) -> Int {
        get { counts[level, default: 0] }
        set { counts[level] = newValue == 0 ? nil : newValue }
    }

    package mutating func add(_ others: DroppedLogRecords) {
        for (level, count) in others.counts { self[level] += count }
    }
}

#endif
