internal import RestaurantsDomain

/// The state of the usage data.
enum UsageView {
    static func render(_ ledger: UsageLedger) -> String {
        let sum = ledger.isBalanced ? "Nothing is lost." : "SOMETHING IS MISSING."
        return "\(ledger.noted) noted = \(ledger.delivered) delivered + \(ledger.waiting) waiting"
            + " + \(ledger.dropped) dropped. \(sum)"
    }
}
