import HTTPTypes

/// The cache directives of a request (RFC 9111 section 5.2.1).
struct RequestDirectives: Hashable, Sendable {
    enum MaxStale: Hashable, Sendable {
        case none
        case seconds(Int64)
        case any
    }

    var maxAge: Int64?
    var minFresh: Int64?
    var maxStale = MaxStale.none
    var staleIfError: Int64?
    var noCache = false
    var noStore = false
    var onlyIfCached = false

    init() {}

    /// Reads the directives of a request, or `Pragma` if there is no `Cache-Control`.
    init(_ fields: HTTPFields) {
        let lines = fields[values: .cacheControl]
        for directive in FieldList.members(lines).compactMap(CacheDirective.init) {
            add(directive)
        }
        if lines.isEmpty {
            noCache = FieldList.members(fields[values: .pragma]).contains {
                $0.lowercased() == "no-cache"
            }
        }
    }

    private mutating func add(_ directive: CacheDirective) {
        let number = DeltaSeconds(directive.argument)
        switch directive.name {
        // An unreadable limit counts as the strictest one.
        case "max-age": maxAge = min(maxAge ?? .max, number.strict ?? 0)
        case "min-fresh": minFresh = max(minFresh ?? 0, number.valid ?? DeltaSeconds.limit)
        case "max-stale":
            if directive.argument == nil {
                maxStale = .any
            } else if let seconds = number.valid {
                maxStale = .seconds(seconds)
            }
        case "stale-if-error": staleIfError = number.valid
        case "no-cache": noCache = true
        case "no-store": noStore = true
        case "only-if-cached": onlyIfCached = true
        default: break
        }
    }

    func accepts(age: Int64, remaining: Int64) -> Bool {
        if noCache { return false }
        // Ages are known to the second only, so zero demands validation.
        if let maxAge, age > maxAge || maxAge == 0 { return false }
        if let minFresh, remaining < minFresh { return false }
        return true
    }

    func acceptsStale(by staleness: Int64) -> Bool {
        switch maxStale {
        case .none: false
        case .seconds(let limit): staleness <= limit
        case .any: true
        }
    }

    var demandsFreshness: Bool { noCache || maxAge != nil || minFresh != nil }
}
