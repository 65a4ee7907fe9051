internal import KeelStorage

/// The caller of a request, with whose other requests it shares limits: a principal, or the connection of an anonymous
/// caller.
enum CallerID: Hashable, Sendable {
    case principal(String)
    case connection(UInt64)

    /// Creates the id of a request's caller; nil if neither is known.
    init?(_ principal: StoragePrincipal?, on connection: UInt64?) {
        if let principal {
            self = .principal(principal.id)
        } else if let connection {
            self = .connection(connection)
        } else {
            return nil
        }
    }

    /// Returns what holds bytes for callers in the order in which it gives way to others: that of the callers that hold
    /// most first, and of these the largest.
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

    /// A short text without a slash; that of a principal is the same at every server.
    var tag: String {
        switch self {
        case .principal(let id): String(StableHash.of(id.utf8), radix: 36)
        case .connection(let number): "c\(number)"
        }
    }
}
