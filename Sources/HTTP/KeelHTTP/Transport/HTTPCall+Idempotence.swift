public import HTTPTypes

extension HTTPCall {
    /// Whether sending the request twice has the same effect as sending it once.
    ///
    /// True for the methods that RFC 9110 section 9.2.2 calls idempotent and for requests with an `Idempotency-Key`
    /// field, unless ``HTTPCallOptions/isIdempotent`` says otherwise.
    public var isIdempotent: Bool {
        options.isIdempotent
            ?? (Self.idempotentMethods.contains(head.method)
                || head.headerFields[.idempotencyKey] != nil)
    }

    private static let idempotentMethods: Set<HTTPRequest.Method> = [
        .get, .head, .put, .delete, .options, .trace,
    ]
}

extension HTTPField.Name {
    /// `Idempotency-Key`: a server that supports it acts on each key only once
    /// (draft-ietf-httpapi-idempotency-key-header).
    public static let idempotencyKey: Self = {
        guard let name = Self("Idempotency-Key") else { preconditionFailure("It is a token.") }
        return name
    }()
}
