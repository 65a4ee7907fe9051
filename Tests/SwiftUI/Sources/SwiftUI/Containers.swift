public struct HorizontalAlignment: Equatable, Sendable {
    private let name: String

    public static let leading = HorizontalAlignment(name: "leading")
    public static let center = HorizontalAlignment(name: "center")
    public static let trailing = HorizontalAlignment(name: "trailing")
}

public struct VStack<Content: View>: View, BuiltIn {
    private let content: Content

    public init(
        alignment: HorizontalAlignment = .center,
        spacing: Double? = nil,
        @ViewBuilder content: () -> Content
    ) {
        self.content = content()
    }

    func show(in outline: Outline) { outline.show(content) }
}

public struct HStack<Content: View>: View, BuiltIn {
    private let content: Content

    public init(@ViewBuilder content: () -> Content) { self.content = content() }

    func show(in outline: Outline) { outline.show(content) }
}

public struct Form<Content: View>: View, BuiltIn {
    private let content: Content

    public init(@ViewBuilder content: () -> Content) { self.content = content() }

    func show(in outline: Outline) { outline.show(content) }
}

public struct TabView<Content: View>: View, BuiltIn {
    private let content: Content

    public init(@ViewBuilder content: () -> Content) { self.content = content() }

    func show(in outline: Outline) { outline.show(content) }
}

public struct NavigationStack<Content: View>: View, BuiltIn {
    private let content: Content

    public init(@ViewBuilder root: () -> Content) { content = root() }

    func show(in outline: Outline) { outline.show(content) }
}

public struct Section<Content: View>: View, BuiltIn {
    private let title: String?
    private let content: Content

    public init(@ViewBuilder content: () -> Content) {
        title = nil
        self.content = content()
    }

    public init(_ title: some StringProtocol, @ViewBuilder content: () -> Content) {
        self.title = String(title)
        self.content = content()
    }

    func show(in outline: Outline) {
        if let title { outline.text(title) }
        outline.show(content)
    }
}

public struct NavigationLink<Value: Hashable, Content: View>: View, BuiltIn {
    private let value: Value
    private let content: Content

    public init(value: Value, @ViewBuilder label: () -> Content) {
        self.value = value
        content = label()
    }

    func show(in outline: Outline) {
        outline.link(to: value)
        outline.show(content)
    }
}

public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: View, BuiltIn {
    private let rows: [Content]

    public init(
        _ data: Data,
        id: KeyPath<Data.Element, ID>,
        @ViewBuilder content: @escaping (Data.Element) -> Content
    ) {
        rows = data.map(content)
    }

    func show(in outline: Outline) {
        for row in rows { outline.show(row) }
    }
}

extension ForEach where Data.Element: Identifiable, ID == Data.Element.ID {
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {
        self.init(data, id: \.id, content: content)
    }
}

public struct List<Content: View>: View, BuiltIn {
    private let content: Content

    public init(@ViewBuilder content: () -> Content) { self.content = content() }

    public init<Data: RandomAccessCollection, Row: View>(
        _ data: Data,
        @ViewBuilder rowContent: @escaping (Data.Element) -> Row
    )
    where
        Data.Element: Identifiable,
        Content == ForEach<Data, Data.Element.ID, Row>
    {
        content = ForEach(data, content: rowContent)
    }

    func show(in outline: Outline) { outline.show(content) }
}
