#if Logging

/// The OTLP field numbers that Keel writes and reads.
///
/// From opentelemetry-proto, release 1.x, in which they are stable: `opentelemetry/proto/logs/v1/logs.proto`,
/// `common/v1/common.proto`, `resource/v1/resource.proto` and `collector/logs/v1/logs_service.proto`.
enum OTLPFields {
    enum Request {
        static let resourceLogs = 1
    }

    enum ResourceLogs {
        static let resource = 1
        static let scopeLogs = 2
    }

    enum Resource {
        static let attributes = 1
    }

    enum ScopeLogs {
        static let scope = 1
        static let logRecords = 2
    }

    enum Scope {
        static let name = 1
    }

    enum LogRecord {
        static let timeUnixNano = 1
        static let severityNumber = 2
        static let severityText = 3
        static let body = 5
        static let attributes = 6
        static let traceID = 9
        static let spanID = 10
        static let observedTimeUnixNano = 11
    }

    enum KeyValue {
        static let key = 1
        static let value = 2
    }

    enum AnyValue {
        static let string = 1
        static let integer = 3
        static let array = 5
        static let map = 6
    }

    /// For both `ArrayValue` and `KeyValueList`.
    static let values = 1

    enum Response {
        static let partialSuccess = 1
    }

    enum PartialSuccess {
        static let rejectedLogRecords = 1
    }
}

#endif
