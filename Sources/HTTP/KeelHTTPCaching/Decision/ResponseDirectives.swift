import HTTPTypes

/// The cache directives of a response (RFC 9111 section 5.2.2).
///
/// The first of duplicate numbers counts, and the stricter of two forms of a prohibition.
struct ResponseDirectives: Hashable, Sendable {
    /// The scope of a directive: the whole response, or some of its fields.
    enum Scope: Hashable, Sendable {
        case absent
        case fields(Set<String>)
        case whole

        var isWhole: Bool { self == .whole }

        var fields: Set<String> {
            guard case .fields(let names) = self else { return [] }
            return names
        }

        fileprivate mutating func add(_ argument: String?) {
            let names = Set(FieldList.members(argument ?? "").map { $0.lowercased() })
            guard !names.isEmpty, names.allSatisfy(FieldList.isToken) else {
                // No argument, or an unreadable one, means the whole response.
                self = .whole
                return
            }
            switch self {
            case .absent: self = .fields(names)
            case .fields(let known): self = .fields(known.union(names))
            case .whole: break
            }
        }
    }

    var maxAge = DeltaSeconds.absent
    var sharedMaxAge = DeltaSeconds.absent
    var staleWhileRevalidate = DeltaSeconds.absent
    var staleIfError = DeltaSeconds.absent
    var noCache = Scope.absent
    var isPrivate = Scope.absent
    var isPublic = false
    var noStore = false
    var mustRevalidate = false
    var proxyRevalidate = false
    var mustUnderstand = false
    var isImmutable = false

    /// Whether a targeted field applies, so that `Cache-Control` and `Expires` do not.
    var isTargeted = false

    init(_ fields: HTTPFields, _ rules: CacheRules) {
        for name in rules.targetedFields {
            let lines = fields[values: name]
            guard !lines.isEmpty, let members = StructuredFieldParser.dictionary(lines),
                !members.isEmpty
            else { continue }
            isTargeted = true
            for (key, value) in members { add(key, value) }
            return
        }
        for member in FieldList.members(fields[values: .cacheControl]) {
            if let directive = CacheDirective(member) { add(directive) }
        }
    }

    private mutating func add(_ directive: CacheDirective) {
        let argument = directive.argument
        switch directive.name {
        case "max-age": Self.set(&maxAge, argument)
        case "s-maxage": Self.set(&sharedMaxAge, argument)
        case "stale-while-revalidate": Self.set(&staleWhileRevalidate, argument)
        case "stale-if-error": Self.set(&staleIfError, argument)
        case "no-cache": noCache.add(argument)
        case "private": isPrivate.add(argument)
        case "public": isPublic = true
        case "no-store": noStore = true
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "must-understand": mustUnderstand = true
        case "immutable": isImmutable = true
        default: break
        }
    }

    /// Adds a member of a targeted field; a value of the wrong type is ignored.
    private mutating func add(_ key: String, _ value: StructuredFieldParser.Value) {
        switch (key, value) {
        case (_, .integer(let seconds)) where Self.numbers.contains(key):
            add(CacheDirective(name: key, argument: String(seconds)))
        case ("no-cache", .string(let names)), ("private", .string(let names)):
            add(CacheDirective(name: key, argument: names))
        case (_, .boolean(true)) where !Self.numbers.contains(key):
            add(CacheDirective(name: key, argument: nil))
        default: break
        }
    }

    private static let numbers: Set<String> = [
        "max-age", "s-maxage", "stale-while-revalidate", "stale-if-error",
    ]

    private static func set(_ value: inout DeltaSeconds, _ argument: String?) {
        if !value.isPresent { value = DeltaSeconds(argument) }
    }
}

extension ResponseDirectives {
    /// Returns whether a response must never be served stale without validation.
    func forbidsStale(_ rules: CacheRules) -> Bool {
        mustRevalidate || noCache.isWhole
            || (rules.isShared && (proxyRevalidate || sharedMaxAge.isPresent))
    }
}
