/// Keeps the content of one measure until another measure needs other content.
///
/// The servers of a measure that has ended then take neither memory nor time from the next one.
actor Stage {
    private var name = ""
    private var content: (any Sendable)?

    /// Returns the content with a name, which is made if the last one had another name.
    func content<Content: Sendable>(
        _ name: String,
        _ make: @concurrent @Sendable () async throws -> Content
    ) async throws -> Content {
        if name == self.name, let content = content as? Content { return content }
        content = nil
        let made = try await make()
        (self.name, content) = (name, made)
        return made
    }
}

/// The content of both sides of a measure, each made on its first use.
struct Sides<Content: Sendable>: Sendable {
    let keel: Lazily<Content>
    let peer: Lazily<Content>

    /// Makes the content from a server of each side.
    init(
        keel: @escaping @concurrent @Sendable () async throws -> FirestoreServer = {
            try await .keel("memory")
        },
        _ make:
            @escaping @concurrent @Sendable (FirestoreServer, _ isKeel: Bool) async throws
            -> Content
    ) {
        self.keel = Lazily { try await make(try await keel(), true) }
        peer = Lazily { try await make(try await .emulator(), false) }
    }

    func content(isKeel: Bool) async throws -> Content {
        try await (isKeel ? keel : peer).value()
    }
}
