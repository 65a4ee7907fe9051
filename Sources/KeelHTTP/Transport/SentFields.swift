package import HTTPTypes

extension HTTPCallOptions {
    private enum SentFieldsWishKey: HTTPCallOptionKey {
        static var defaultValue: Bool { false }
    }

    /// Whether the reply is to tell which fields the request really had.
    ///
    /// A layer asks for it that must know what the layers below it add.
    package var tellsSentFields: Bool {
        get { self[SentFieldsWishKey.self] }
        set { self[SentFieldsWishKey.self] = newValue }
    }
}

extension HTTPReplyNotes {
    private enum SentFieldsKey: HTTPReplyNoteKey {
        static var defaultValue: HTTPFields? { nil }
    }

    /// The fields of the request as the transport got it; nil where nobody asked for them, or where
    /// a layer answered by itself.
    package var sentFields: HTTPFields? {
        get { self[SentFieldsKey.self] }
        set { self[SentFieldsKey.self] = newValue }
    }
}
