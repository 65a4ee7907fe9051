/// How the requests of a trace are written.
enum TraceFormat: String, CaseIterable {
    case u32be
    case u64be
    case u64le
    case text
    case arc
}

/// Why a trace cannot be read, in words.
struct TraceError: Error {
    let message: String
}
