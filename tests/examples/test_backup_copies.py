"""The template of backup copies selects every table of a stack, and each rule copies to the other region."""

from __future__ import annotations

from fnmatch import fnmatchcase

from local.restore import RESTORED
from local.template import Template
from tests.examples.guide import ROOT

TEMPLATE = Template.load(
    ROOT / "examples" / "backup_copies.yaml",
    {"VaultArn": "arn:aws:backup:eu-west-1:123456789012:backup-vault:qbxml-queue"},
)


def test_every_table_of_the_stack_is_selected_and_no_restored_one() -> None:
    (selection,) = TEMPLATE.resources("AWS::Backup::BackupSelection").values()
    (pattern,) = selection["BackupSelection"]["Resources"]

    def is_selected(table: str) -> bool:
        return fnmatchcase(f"arn:aws:dynamodb:us-east-1:123456789012:table/{table}", pattern)

    for table in Template.load().resources("AWS::DynamoDB::Table"):
        assert is_selected(f"qbxml-queue-{table}-1A2B3C")
        assert not is_selected(f"{RESTORED}qbxml-queue-{table}-1A2B3C")


def test_each_backup_has_a_copy_that_is_kept_as_long() -> None:
    (plan,) = TEMPLATE.resources("AWS::Backup::BackupPlan").values()
    (rule,) = plan["BackupPlan"]["BackupPlanRule"]

    (copy,) = rule["CopyActions"]
    assert copy["DestinationBackupVaultArn"].startswith("arn:aws:backup:eu-west-1:")
    assert copy["Lifecycle"] == rule["Lifecycle"] == {"DeleteAfterDays": 7}
