"""Show what the service says about a mistake: before the request is queued, and after QuickBooks refused it."""

from __future__ import annotations

from uuid import uuid4

from qbxml_queue import Api, Failed, Rejected, run


def main() -> None:
    api = Api.from_environment()
    try:
        api.execute({"CustomerAddRq": {"CustomerAdd": {"Nam": "Blue Door Bakery"}}}, f"mistake-{uuid4()}")
    except Rejected as rejected:
        print(f"{rejected.status} {rejected.code}")
        for problem in rejected.problems:
            print(f"  {problem['message']} {problem.get('suggestion', '')}")
    try:
        api.execute({"CustomerAddRq": {"CustomerAdd": {"Name": "Blue Door Bakery"}}}, f"mistake-{uuid4()}")
    except Failed as failed:
        print(f"{failed.code} {failed.status_code} {failed.details['reason']}")
        print(f"  {failed.details['hint']}")


if __name__ == "__main__":
    run(main)
