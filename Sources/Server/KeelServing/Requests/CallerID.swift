internal import KeelStorage

/// The caller of a request, whose requests share limits: a principal, or the connection of an anonymous caller.
enum CallerID: Hashable, Sendable {
    case principal(String)
    case connection(UInt64)

    /// Returns nil if neither is known.
    init?(_ principal: StoragePrincipal?, on connection: UInt64?) {
        if let principal {
            self = .principal(principal.id)
        } else if let connection {
            self = .connection(connection)
        } else {
            return nil
        }
    }

    /// Returns holders of bytes in the order in which they are evicted: first those of the callers that hold most, the
    /// largest first.
    static func largestFirst<Holder>(
        _ all: [(holder: Holder, caller: CallerID?, bytes: Int)]
    ) -> [Holder] {
        var sums: [CallerID: Int] = [:]
        for (_, caller, bytes) in all {
            if let caller { sums[caller, default: 0] += bytes }
        }
        return all.map { holder, caller, bytes in
            (holder: holder, order: (caller.flatMap { sums[$0] } ?? bytes, bytes))
        }
        .sorted { $0.order > $1.order }
        .map { $0.holder }
    }

    /// A short text without a slash, for principals the same at every server.
    var tag: String {
        switch self {
        case .principal(let id): String(StableHash.of(id.utf8), radix: 36)
        case .connection(let number): "c\(number)"
        }
    }
}
