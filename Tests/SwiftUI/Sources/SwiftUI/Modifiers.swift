public struct Font: Equatable, Sendable {
    private let name: String

    public static let headline = Font(name: "headline")
    public static let subheadline = Font(name: "subheadline")
    public static let footnote = Font(name: "footnote")
}

public protocol ShapeStyle: Sendable {}

public struct HierarchicalShapeStyle: ShapeStyle {}

extension ShapeStyle where Self == HierarchicalShapeStyle {
    public static var primary: HierarchicalShapeStyle { HierarchicalShapeStyle() }
    public static var secondary: HierarchicalShapeStyle { HierarchicalShapeStyle() }
}

/// The content type of a field, by its names in UIKit and AppKit.
public struct TextContentType: Equatable, Sendable {
    private let name: String

    public static let username = TextContentType(name: "username")
    public static let password = TextContentType(name: "password")
}

// Appearance, which an outline does not have.
extension View {
    public func font(_ font: Font?) -> some View { self }
    public func foregroundStyle(_ style: some ShapeStyle) -> some View { self }
    public func scaledToFit() -> some View { self }
    public func textContentType(_ type: TextContentType?) -> some View { self }
    public func tag(_ tag: some Hashable) -> some View { self }
}

extension View {
    public func accessibilityLabel(_ label: some StringProtocol) -> some View {
        Modified(content: self) { $0.text(String(label)) }
    }

    public func navigationTitle(_ title: some StringProtocol) -> some View {
        Modified(content: self) { $0.text(String(title)) }
    }

    public func navigationDestination<Value: Hashable>(
        for type: Value.Type,
        @ViewBuilder destination: @escaping @MainActor (Value) -> some View
    ) -> some View {
        Modified(content: self) { outline in
            outline.destination { link in (link.base as? Value).map { destination($0) } }
        }
    }

    public func toolbar(@ViewBuilder content: () -> some View) -> some View {
        let content = content()
        return Modified(content: self) { $0.show(content) }
    }

    public func swipeActions(@ViewBuilder content: () -> some View) -> some View {
        let content = content()
        return Modified(content: self) { $0.show(content) }
    }

    public func tabItem(@ViewBuilder _ label: () -> some View) -> some View {
        let label = label()
        return Modified(content: self) { $0.show(label) }
    }

    public func overlay(@ViewBuilder content: () -> some View) -> some View {
        let content = content()
        return Modified(content: self) { $0.show(content) }
    }

    public func searchable(text: Binding<String>) -> some View {
        Modified(content: self) { $0.field("Search", text) }
    }

    public func onChange(
        of value: some Equatable,
        _ action: @escaping @MainActor () -> Void
    ) -> some View {
        Modified(content: self) { $0.reaction(action) }
    }

    public func refreshable(action: @escaping @MainActor () async -> Void) -> some View {
        Modified(content: self) { $0.refresh(action) }
    }

    public func disabled(_ isDisabled: Bool) -> some View {
        Disabled(content: self, isDisabled: isDisabled)
    }

    public func task(_ action: @escaping @MainActor () async -> Void) -> some View {
        Modified(content: self) { $0.task(action) }
    }

    public func task(
        id: some Equatable,
        _ action: @escaping @MainActor () async -> Void
    ) -> some View {
        Modified(content: self) { $0.task(action) }
    }
}

private struct Disabled<Content: View>: View, BuiltIn {
    let content: Content
    let isDisabled: Bool

    func show(in outline: Outline) { outline.disabled(isDisabled, content) }
}
