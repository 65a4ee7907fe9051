public import Foundation

public struct Text: View, BuiltIn {
    private let text: String

    public init(_ text: some StringProtocol) { self.text = String(text) }

    func show(in outline: Outline) { outline.text(text) }
}

public struct Image: View, BuiltIn {
    private let name: String

    public init(systemName: String) { name = systemName }

    public func resizable() -> Image { self }

    func show(in outline: Outline) { outline.image(name) }
}

public struct Label: View, BuiltIn {
    private let title: String
    private let image: String

    public init(_ title: some StringProtocol, systemImage: String) {
        self.title = String(title)
        image = systemImage
    }

    func show(in outline: Outline) {
        outline.text(title)
        outline.image(image)
    }
}

public struct Link: View, BuiltIn {
    private let title: String
    private let destination: URL

    public init(_ title: some StringProtocol, destination: URL) {
        self.title = String(title)
        self.destination = destination
    }

    func show(in outline: Outline) {
        outline.text(title)
        outline.link(to: destination)
    }
}

/// An image that is loaded; the stand-in shows its placeholder.
public struct AsyncImage<Content: View, Placeholder: View>: View, BuiltIn {
    private let picture: Content
    private let placeholder: Placeholder

    public init(
        url: URL?,
        scale: Double = 1,
        @ViewBuilder content: @escaping (Image) -> Content,
        @ViewBuilder placeholder: @escaping () -> Placeholder
    ) {
        picture = content(Image(systemName: "photo"))
        self.placeholder = placeholder()
    }

    func show(in outline: Outline) {
        outline.show(picture)
        outline.show(placeholder)
    }
}

public struct ProgressView: View, BuiltIn {
    public init() {}

    func show(in outline: Outline) { outline.indicator() }
}

public struct Spacer: View, BuiltIn {
    public init() {}

    func show(in outline: Outline) {}
}

public struct ButtonRole: Equatable, Sendable {
    private let name: String

    public static let destructive = ButtonRole(name: "destructive")
    public static let cancel = ButtonRole(name: "cancel")
}

public struct Button<Title: View>: View, BuiltIn {
    private let label: Title
    private let action: @MainActor () -> Void

    public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Title) {
        self.action = action
        self.label = label()
    }

    func show(in outline: Outline) { outline.button(label, action) }
}

extension Button where Title == Text {
    public init(_ title: some StringProtocol, action: @escaping @MainActor () -> Void) {
        self.init(action: action) { Text(title) }
    }

    public init(
        _ title: some StringProtocol,
        role: ButtonRole?,
        action: @escaping @MainActor () -> Void
    ) {
        self.init(action: action) { Text(title) }
    }
}

public struct TextField: View, BuiltIn {
    private let title: String
    private let text: Binding<String>

    public init(_ title: some StringProtocol, text: Binding<String>) {
        self.title = String(title)
        self.text = text
    }

    func show(in outline: Outline) { outline.field(title, text) }
}

public struct SecureField: View, BuiltIn {
    private let title: String
    private let text: Binding<String>

    public init(_ title: some StringProtocol, text: Binding<String>) {
        self.title = String(title)
        self.text = text
    }

    func show(in outline: Outline) { outline.field(title, text) }
}

public struct Picker<Choice: Hashable, Content: View>: View, BuiltIn {
    private let title: String
    private let selection: Binding<Choice>
    private let content: Content

    public init(
        _ title: some StringProtocol,
        selection: Binding<Choice>,
        @ViewBuilder content: () -> Content
    ) {
        self.title = String(title)
        self.selection = selection
        self.content = content()
    }

    func show(in outline: Outline) {
        outline.picker(title) { [selection] choice in
            if let choice = choice.base as? Choice { selection.wrappedValue = choice }
        }
        outline.show(content)
    }
}
