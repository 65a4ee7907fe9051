internal import Foundation
internal import RestaurantsDomain

/// A table of the changes that the service has not received.
enum PendingView {
    /// The length of a shown id, which suffices to name the change.
    private static let idLength = 8

    private static let columns = [
        TextTable.Column(title: "ID"),
        TextTable.Column(title: "CHANGE"),
        TextTable.Column(title: "RESTAURANT", isFlexible: true),
        TextTable.Column(title: "STATE", isFlexible: true),
    ]

    static func render(_ entries: [PendingEntry], of user: UserID, _ screen: Screen) -> String {
        guard !entries.isEmpty else { return "Nothing of \(user) waits for the service." }
        let rows = entries.map { entry in
            [
                String(entry.change.id.prefix(idLength)),
                text(entry.change.subject),
                entry.restaurant.name ?? entry.restaurant.id.text,
                text(entry.change.state),
            ]
        }
        let lines = TextTable(columns: columns, rows: rows)
            .lines(width: screen.width, style: screen.style)
        let refused = entries.count { $0.change.isRefused }
        let end = "\(entries.count - refused) waiting, \(refused) refused, of \(user)."
        return (lines + [screen.style.faint(end)]).joined(separator: "\n")
    }

    private static func text(_ subject: PendingChange.Subject) -> String {
        switch subject {
        case .favourite: "favourite"
        case .rating: "rating"
        }
    }

    private static func text(_ state: PendingChange.State) -> String {
        switch state {
        case .waiting(nil): "waiting"
        case .waiting(let reason?): "waiting: \(reason)"
        case .sending: "being sent"
        case .refused(let reason): "refused: \(reason)"
        }
    }
}
