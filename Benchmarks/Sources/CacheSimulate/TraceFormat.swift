enum TraceFormat: String, CaseIterable {
    case u32be
    case u64be
    case u64le
    case text
    case arc
}

/// The reason why a trace cannot be read.
struct TraceError: Error {
    let message: String
}
